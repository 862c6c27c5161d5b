"""Learning while shares are out: what comes late is counted as late, what is too old is dropped, no game is lost."""

from itertools import pairwise

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.config import config_from
from experiments.errors import UserError
from experiments.metrics import read_metrics
from experiments.train import metrics_row
from experiments.training.learner import Learner
from rl.fleet import Done, InProcess, Processes
from rl.shares import ShareError, prepare


def a_learner(**changes):
    values = {
        "height": 4, "width": 4, "win_length": 3, "filters": [2, 3], "hidden": 8, "games": 200, "games_per_update": 30,
        "opening_plies": 2, "shares": 3, "staleness": 2, "pool_size": 4,
    }  # fmt: skip
    learner = Learner(config_from(values | changes))
    learner.league.remember(learner.net)
    return learner


class Eager(InProcess):
    """Plays a share as soon as it is handed in and gives it back when its turn comes, like a fleet of many workers."""

    def __init__(self):
        super().__init__(prepare)
        self.back, self.taken, self.held = [], [], []

    def submit(self, index, batch):
        self.back.append(Done(index, self._version, self._work(batch)))

    def take(self):
        done = self.back.pop(0)
        self.taken.append(done)
        return done


class Stuck(Eager):
    """The first share of all comes back when six others have been taken, after two updates."""

    def take(self):
        if len(self.taken) < 6 and self.back[0].index == 0:
            self.back.append(self.back.pop(0))
        return super().take()


def updates(learner):
    turns = []
    while learner.games < learner.config.games:
        turns.append(learner.update())
        learner.league.remember(learner.net)
    return turns


def test_staleness_is_how_many_updates_the_weights_are_behind():
    learner = a_learner()
    learner.fleet = Eager()
    turns = updates(learner)
    assert [turn.staleness.most for turn in turns] == [0, 1, 2, 2, 2, 2, 2]
    assert [turn.staleness.mean for turn in turns] == [0, 1, 2, 2, 2, 2, 2]
    assert sum(turn.staleness.dropped for turn in turns) == 0
    assert metrics_row(learner, turns[2], 1.0)["staleness"] == {"mean": 2.0, "most": 2, "dropped": 0}


def test_every_game_is_taken_once_and_none_is_out_at_the_end():
    learner = a_learner()
    learner.fleet = Eager()
    turns = updates(learner)
    assert [turn.games for turn in turns] == [30, 30, 30, 30, 30, 30, 20]
    indices = [done.index for done in learner.fleet.taken]
    assert indices == list(range(20)) and learner.flow.games == 0 and learner.fleet.back == []
    seeds = {done.result.seed for done in learner.fleet.taken}
    assert len(seeds) == 20
    assert learner.positions == sum(len(done.result.decisions) for done in learner.fleet.taken)


def test_what_is_too_old_is_counted_and_played_again_with_weights_of_now():
    learner = a_learner(staleness=1)
    learner.fleet = Stuck()
    turns = updates(learner)
    assert [turn.staleness.dropped for turn in turns] == [0, 0, 1, 0, 0, 0, 0]
    assert max(turn.staleness.most for turn in turns) == 1
    again = [done for done in learner.fleet.taken if done.index == 0]
    assert [done.version for done in again] == [1, 3] and again[0].result.seed == again[1].result.seed
    assert learner.games == 200 and sorted({done.index for done in learner.fleet.taken}) == list(range(20))


def test_a_result_told_twice_counts_once():
    class Twice(Eager):
        def submit(self, index, batch):
            super().submit(index, batch)
            self.back.append(self.back[-1])

    once, twice = a_learner(), a_learner()
    once.fleet, twice.fleet = Eager(), Twice()
    assert [turn.games for turn in updates(once)] == [turn.games for turn in updates(twice)]
    assert once.net.arrays()["conv1.weight"].tobytes() == twice.net.arrays()["conv1.weight"].tobytes()


def test_here_and_now_nothing_is_stale():
    turns = updates(a_learner())
    assert [turn.staleness.most for turn in turns] == [0] * 7 and turns[-1].games == 20


def test_shares_that_wait_may_be_played_with_fewer_past_selves_than_they_were_drawn_for():
    learner = a_learner(opponents={"pool": 1.0}, pool_at_once=4, staleness=1)
    assert sum(turn.games for turn in updates(learner)) == 200  # the full pool of 4 is thinned to 3 on the way


def test_shares_of_another_seed_are_refused():
    class Liar(Eager):
        def take(self):
            done = super().take()
            return Done(done.index, done.version, type(done.result)((9, 9), done.result.decisions))

    learner = a_learner()
    learner.fleet = Liar()
    with pytest.raises(ShareError, match="seed"):
        learner.update()


def test_games_are_told_of_those_who_sat_there():
    learner = a_learner(opponents={"pool": 1.0}, pool_at_once=4, pool_by_difficulty=True)
    learner.fleet = Eager()
    told = []
    learner.league.learn = lambda seats, opponents, winners: told.append((seats, opponents))
    drawn = []  # the opponents of each version
    draw = learner.league.draw

    def noted(games, rng):
        found = draw(games, rng)
        drawn.append(found[1])
        return found

    learner.league.draw = noted
    updates(learner)
    assert len(told) == 20
    for (seats, opponents), done in zip(told, learner.fleet.taken, strict=True):
        assert opponents[: len(drawn[done.version - 1])] == drawn[done.version - 1]
        assert seats.max() < len(opponents)
    assert any(len(few) < len(many) for many, few in pairwise(drawn))  # the full pool was thinned


def test_the_pool_learns_of_networks_it_still_has():
    learner = a_learner(opponents={"pool": 1.0}, pool_at_once=2)
    seats, opponents, _ = learner.league.draw(20, np.random.default_rng(1))
    winners = np.where(seats[:, 0] == -1, 1, -1).astype(np.int8)  # the learner wins them all
    learner.league.learn(seats, opponents, winners)
    assert learner.league.rates[0] > 0.5
    learner.league.forget()
    learner.league.remember(learner.net)
    learner.league.learn(seats, opponents, winners)  # told late
    assert learner.league.rates.tolist() == [0.5]


def test_two_processes_play_while_the_learner_learns():
    learner = a_learner(games=150)
    with Processes(prepare, 2) as learner.fleet:
        turns = updates(learner)
    assert [turn.games for turn in turns] == [30] * 5
    assert max(turn.staleness.most for turn in turns) <= 2


def test_a_run_states_its_staleness_and_goes_on(tmp_path, capsys):
    run = tmp_path / "run"
    settings = (
        "height=4", "width=4", "win_length=3", "filters=[2, 3]", "hidden=8", "games=90", "games_per_update=30",
        "shares=3", "staleness=1", "pool_every=30", "evaluate_every=60", "evaluation_games=2", "final_games=2",
        "evaluation_plies=2", "opening_plies=2", "checkpoint_every=30", "evaluate_against=[\"random\"]",
    )  # fmt: skip
    assert main(["train", *(w for s in settings for w in ("--set", s)), "--run-dir", str(run)]) == 0
    rows = read_metrics(run / "metrics.jsonl")
    assert [row["games"] for row in rows] == [0, 30, 60, 90]
    assert all(row["staleness"] == {"mean": 0.0, "most": 0, "dropped": 0} for row in rows[1:])
    for late in sorted((run / "checkpoints").iterdir())[1:]:
        late.unlink()
    assert main(["train", "--resume", str(run)]) == 0  # what was out is played anew
    assert [row["games"] for row in read_metrics(run / "metrics.jsonl")] == [0, 30, 60, 90]


def test_staleness_is_of_shares():
    with pytest.raises(UserError, match="staleness"):
        config_from({"staleness": 1})
