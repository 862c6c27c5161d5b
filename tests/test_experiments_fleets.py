"""Training on a fleet: the same bytes whoever plays, nothing lost or counted twice, Dask without its machines."""

import pickle
import sys
from concurrent.futures import CancelledError
from dataclasses import fields, replace

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.config import config_from
from experiments.metrics import read_metrics
from experiments.training.learner import Learner
from rl.dask_fleet import DaskFleet
from rl.fleet import Done, Fleet, FleetError, InProcess
from rl.parcel import packed, unpacked
from rl.shares import Played, ShareError, prepare

TINY = (
    "name=tiny", "height=4", "width=5", "win_length=3", "filters=[2, 3]", "hidden=8", "games=120",
    "games_per_update=40", "batch=64", "pool_every=40", "evaluate_every=80", "evaluation_games=2", "final_games=2",
    "evaluation_plies=2", "opening_plies=2", "checkpoint_every=40", "shares=3", "watched=true",
)  # fmt: skip


def train(run, *words):
    return main(["train", *(word for setting in TINY for word in ("--set", setting)), "--run-dir", str(run), *words])


def outcome(run):
    rows = read_metrics(run / "metrics.jsonl")
    for row in rows[1:]:
        del row["seconds"], row["games_per_second"]
    return rows, (run / "policy.npz").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    assert train(path) == 0
    return path


def test_two_processes_give_the_bytes_of_one(whole, tmp_path):
    assert train(tmp_path / "run", "--fleet", "processes:2") == 0
    assert outcome(tmp_path / "run") == outcome(whole)


def a_learner(**changes):
    values = {
        "height": 4, "width": 4, "win_length": 3, "filters": [2, 3], "hidden": 8, "games": 60, "games_per_update": 30,
        "opening_plies": 2, "shares": 4,
    }  # fmt: skip
    return Learner(config_from(values | changes))


def after_two_updates(learner):
    learner.league.remember(learner.net)
    for _ in range(2):
        learner.update()
    return {name: array.tobytes() for name, array in learner.net.arrays().items()}


class Muddled(InProcess):
    """A fleet that tells everything twice, the first time as of an older version or in the wrong order."""

    def __init__(self):
        super().__init__(prepare)
        self.handed, self.told = {}, []

    def submit(self, index, batch):
        self.told[:0] = [(index, self._version), (index, self._version)]
        if index not in self.handed:
            self.told.append((index, self._version - 1))  # comes first
        self.handed[index] = batch

    def take(self):
        index, version = self.told.pop()
        share = self.handed[index]
        if version != self._version:  # other games than are wanted
            share = replace(share, rng=np.random.default_rng(99))
        return Done(index, version, self._work(share))


def test_late_stale_and_repeated_results_change_nothing():
    plain, muddled = a_learner(), a_learner()
    muddled.fleet = Muddled()
    assert after_two_updates(muddled) == after_two_updates(plain)


def test_a_share_of_another_seed_is_refused():
    class Liar(InProcess):
        def take(self):
            done = super().take()
            return Done(done.index, done.version, type(done.result)((9, 9), done.result.decisions))

    learner = a_learner()
    learner.fleet = Liar(prepare)
    with pytest.raises(ShareError, match="seed"):
        learner.update()


def test_games_and_successors_are_numbered_on_from_share_to_share():
    learner = a_learner()
    decisions, _ = learner._play()
    assert sorted(set(decisions.games)) == list(range(30)) and len(decisions.lengths) == 30
    for now, after in enumerate(decisions.following):
        if after >= 0:
            assert after > now and decisions.games[after] == decisions.games[now]
            assert decisions.colours[after] == decisions.colours[now]
            assert decisions.moves_left[after] == decisions.moves_left[now] - 1
        else:
            assert decisions.moves_left[now] == 0
    assert (decisions.winners == decisions.game_winners[decisions.games]).all()


def test_a_run_begun_without_a_fleet_is_not_continued_on_one(tmp_path, capsys):
    run = tmp_path / "run"
    assert train(run, "--set", "shares=0") == 0
    assert main(["train", "--resume", str(run), "--fleet", "processes:2"]) == 2
    assert "in one go" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["processes", "processes:0", "processes:x", "processes:9999999999", "dask", "ray:x"])
def test_a_fleet_that_is_none_is_one_line(name, tmp_path, capsys):
    assert train(tmp_path / "run", "--fleet", name) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and "--fleet" in lines[0]


def test_without_the_package_a_fleet_on_dask_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert train(tmp_path / "run", "--fleet", "dask:tcp://localhost:8786") == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and "dist" in lines[0]


class FakeFuture:
    def __init__(self, run):
        self.run, self.status, self.answer = run, "pending", None

    def add_done_callback(self, callback):
        self.callback = callback

    def finish(self):
        try:
            self.answer, self.status = self.run(), "finished"
        except Exception as error:
            self.answer, self.status = error, "error"
        self.callback(self)

    def result(self):
        if self.status != "finished":
            raise CancelledError
        return self.answer

    def exception(self):
        return self.answer


class FakeClient:
    """Does what it is told at the next look, except where its script says what goes wrong with that submission."""

    def __init__(self, script, log):
        self.status, self.script, self.log = "running", script, log

    def submit(self, function, *arguments, pure):
        if function is bytes:
            self.log.append("value")
            if self.script and self.script[0] == "nobody":
                self.script.pop(0)
                raise TimeoutError("no answer")
            return bytes(*arguments)
        self.log.append("submit")
        fault = self.script.pop(0) if self.script else ""
        future = FakeFuture(lambda: pickle.loads(pickle.dumps(function(*arguments))))
        if fault == "lost":
            future.status = "cancelled"
        elif fault == "unfetched":
            future.status = "finished"
            future.result = lambda: (_ for _ in ()).throw(CancelledError())
        elif fault == "scheduler":
            self.status = "closed"
            future.status = "lost"
        elif fault == "killer":
            future.status, future.answer = "error", type("KilledWorker", (Exception,), {})("x")
        else:
            future.add_done_callback = lambda callback: (setattr(future, "callback", callback), future.finish())
        return future

    def close(self):
        self.log.append("close")


def doubled(value):
    def work(batch):
        if batch == "bad":
            raise ValueError("bad batch")
        return value * batch

    return work


@pytest.mark.parametrize("fault", ["", "lost", "unfetched", "scheduler", "nobody"])
def test_what_is_lost_is_put_and_submitted_again_under_its_index(fault, monkeypatch):
    monkeypatch.setattr("rl.dask_fleet.LOOK_AGAIN", 0.01)
    log, told = [], []
    script = [fault]
    with DaskFleet(doubled, lambda: FakeClient(script, log), told.append) as fleet:
        assert fleet.put(10) == 1
        for index in (5, 6, 7):
            fleet.submit(index, index)
        taken = sorted((fleet.take() for _ in range(3)), key=lambda done: done.index)
        assert taken == [Done(5, 1, 50), Done(6, 1, 60), Done(7, 1, 70)]
        with pytest.raises(RuntimeError, match="nothing to take"):
            fleet.take()
        assert fleet.put(3) == 2
        fleet.submit(8, 8)
        assert fleet.take() == Done(8, 2, 24)
    extra = {"": 0, "lost": 1, "unfetched": 1, "scheduler": 1, "nobody": 0}[fault]
    assert log.count("submit") == 4 + extra
    assert log.count("value") == 2 + (fault != "")
    assert log.count("close") == 1 + (fault == "scheduler")
    assert len(told) == (fault == "nobody")


def test_errors_of_the_work_are_raised_and_a_batch_that_kills_is_named(monkeypatch):
    with DaskFleet(doubled, lambda: FakeClient([], []), print) as fleet:
        with pytest.raises(RuntimeError, match="before any value"):
            fleet.submit(1, 1)
        fleet.put(1)
        fleet.submit(1, "bad")
        with pytest.raises(ValueError, match="bad batch"):
            fleet.take()
    with DaskFleet(doubled, lambda: FakeClient(["killer"], []), print) as fleet:
        fleet.put(1)
        fleet.submit(4, 1)
        with pytest.raises(FleetError, match="batch 4"):
            fleet.take()


def test_a_learner_on_a_fake_dask_learns_the_same(monkeypatch):
    monkeypatch.setattr("rl.dask_fleet.LOOK_AGAIN", 0.01)
    plain, remote = a_learner(), a_learner()
    script = ["", "lost", "", "scheduler", "", "nobody", "lost"]
    remote.fleet = DaskFleet(prepare, lambda: FakeClient(script, []), lambda text: None)
    assert isinstance(remote.fleet, Fleet)
    assert after_two_updates(remote) == after_two_updates(plain)


def test_shares_have_chance_of_their_own():
    first, _ = a_learner(opponents={"self": 1.0})._play()
    openings = {first.planes[first.games == game][0].tobytes() for game in range(30)}
    assert len(openings) > 4
    assert np.isfinite(first.log_p).all()


def test_a_network_goes_out_without_its_slopes():
    net = a_learner().net
    for parameter in net.parameters():
        parameter.grad += 1
    sent = pickle.dumps(net)
    back = pickle.loads(sent)
    assert len(sent) < sum(parameter.value.nbytes for parameter in net.parameters()) + 5_000
    for here, there in zip(net.parameters(), back.parameters(), strict=True):
        assert (here.value == there.value).all() and here.value.flags.c_contiguous == there.value.flags.c_contiguous
        assert (there.grad == 0).all() and there.grad.flags.c_contiguous == there.value.flags.c_contiguous


@pytest.mark.parametrize("rule", ["freestyle", "renju"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_games_come_back_small_and_as_they_were(rule, dtype):
    learner = a_learner(
        height=15,
        width=15,
        win_length=5,
        rule=rule,
        dtype=dtype,
        games_per_update=6,
        games=6,
        shares=2,
        opponents={"self": 1},
    )
    decisions, _ = learner._play()
    sent = pickle.dumps(Played((4, 2), decisions))
    back = pickle.loads(sent)
    assert back.seed == (4, 2) and len(sent) < 0.08 * len(pickle.dumps(decisions))
    for field in fields(decisions):
        here, there = getattr(decisions, field.name), getattr(back.decisions, field.name)
        assert here.dtype == there.dtype and here.shape == there.shape and here.tobytes() == there.tobytes(), field.name
        assert there.flags.c_contiguous and there.flags.writeable == here.flags.writeable


@pytest.mark.parametrize("number", [2**7, -(2**7) - 1, 2**15, 2**31, -(2**62)])
def test_no_number_is_too_large_for_a_parcel(number):
    decisions, _ = a_learner()._play()
    wide = replace(decisions, following=decisions.following + number)
    assert (unpacked(packed(wide)).following == wide.following).all()
