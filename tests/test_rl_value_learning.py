"""Positions with the ends of their games, what is learnt from them, and the command that does both."""

from pathlib import Path

import numpy as np
import pytest

from env.bitboard import Bitboard
from env.lockstep import Lockstep
from experiments import train_value
from experiments.__main__ import main
from nn import ConvPolicyNet, ConvValueNet, PolicyNet, ValueNet, load_net
from nn.optim import Adam
from rl.agents import GreedyAgent, RandomAgent
from rl.value_learning import Ends, begin_with, joined, learn, values_of, watch_games


class Noted(RandomAgent):
    """Random, and remembers what it was shown."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def choose_positions(self, positions, rng):
        self.seen += [planes.astype(bool).tobytes() for planes in positions.planes]
        return super().choose_positions(positions, rng)


def some_ends(games: int = 40, share: float = 1.0, seed: int = 0) -> Ends:
    rng = np.random.default_rng(seed)
    seats = np.stack([np.arange(games) % 2, (np.arange(games) + 1) % 2], axis=1)
    return watch_games(seats, [GreedyAgent(), RandomAgent()], Lockstep(games, 6, 6, 4), share=share, rng=rng)


def test_what_is_kept_are_the_quiet_positions_of_the_games_with_their_ends() -> None:
    rng, agent = np.random.default_rng(1), Noted()
    games = Lockstep(20, 6, 6, 4)
    ends = watch_games(np.zeros((20, 2), int), [agent], games, share=1.0, rng=rng)
    kept = {planes.tobytes() for planes in ends.planes}
    assert kept < set(agent.seen)
    assert len(agent.seen) == games.plies.sum()
    noisy = 0
    for shown in set(agent.seen):
        own, other = np.frombuffer(shown, bool).reshape(2, 36)
        bits = Bitboard(6, 6, 4)
        bits.black = sum(bits.bit(cell) for cell in np.flatnonzero(own).tolist())
        bits.white = sum(bits.bit(cell) for cell in np.flatnonzero(other).tolist())
        at_stake = bool(bits.winning(1) or bits.winning(-1))
        noisy += at_stake
        assert (shown in kept) != at_stake
    assert noisy > 20
    plies = ends.planes.sum(axis=(1, 2, 3))
    assert np.array_equal(ends.left, games.plies[ends.games] - plies)
    colours = np.where(plies % 2 == 0, 1, -1)
    assert np.array_equal(ends.results, games.winner[ends.games] * colours)
    assert np.allclose(ends.targets(0.9), ends.results * 0.9**ends.left)


def test_seats_shares_and_games_numbered_on() -> None:
    ends = some_ends()
    greedy = (ends.planes.sum(axis=(1, 2, 3)) % 2) == (ends.games % 2)
    assert ends.results[greedy].mean() > 0.8 and ends.results[~greedy].mean() < -0.8
    assert 0.15 < len(some_ends(200, 0.25)) / len(some_ends(200)) < 0.35
    both = joined([ends, ends])
    assert np.array_equal(both.games[len(ends) :], ends.games + ends.games.max() + 1)
    assert len(ends.some(ends.left > 3)) == (ends.left > 3).sum()


def test_it_learns_who_wins() -> None:
    def a_game_whose_many_win(count: int, rng: np.random.Generator) -> Ends:
        results = rng.choice([-1, 1], size=count).astype(np.int8)
        dense = np.where(results > 0, 0.3, 0.15)[:, None, None]
        planes = np.stack([rng.random((count, 6, 6)) < dense, rng.random((count, 6, 6)) < 0.45 - dense], axis=1)
        return Ends(planes, results, np.ones(count, int), np.arange(count))

    rng = np.random.default_rng(2)
    net = ConvValueNet(6, 6, kernels=(3, 1), filters=8, hidden=8, rng=rng)
    known, unknown = a_game_whose_many_win(400, rng), a_game_whose_many_win(300, rng)
    adam, targets = Adam(net.parameters(), 3e-3), known.targets(1.0)
    for _ in range(100):
        which = rng.integers(len(known), size=64)
        learn(net, adam, known.planes[which], targets[which], rng)
    assert (np.sign(values_of(net, unknown.planes)) == unknown.results).mean() > 0.85


def test_it_begins_with_the_convolutions_of_a_policy_like_it() -> None:
    rng = np.random.default_rng(5)
    policy, net = ConvPolicyNet(5, 5, filters=4, rng=rng), ConvValueNet(5, 5, filters=4, rng=rng)
    assert begin_with(net, policy) == ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias"]
    assert np.array_equal(net.arrays()["conv1.weight"], policy.arrays()["conv1.weight"])
    assert not np.shares_memory(net.arrays()["conv1.weight"], policy.arrays()["conv1.weight"])
    assert begin_with(net, PolicyNet(5, 5, filters=(2, 2), hidden=3, rng=rng)) == []


FEW = ["--games", "30", "--epochs", "1", "--batch", "16", "--win-length", "4", "--opening-plies", "2",
       "--opponents", "random", "greedy"]  # fmt: skip


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.npz"
    ConvPolicyNet(6, 6, kernels=(5, 1), filters=4, rng=np.random.default_rng(0)).save(path)
    return str(path)


def test_the_command_writes_a_network_and_says_what_it_knows(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.npz", "b.npz"):
        assert main(["train-value", policy, "-o", str(tmp_path / name), *FEW]) == 0
    told = capsys.readouterr().out
    assert "begins with the policy's conv1.weight" in told and "of always saying the mean" in told
    assert "plies to the end   winner told in" in told
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    net = load_net(tmp_path / "a.npz")
    assert isinstance(net, ConvValueNet) and net.kernels == (5, 1) and net.filters == 4


def test_ctrl_c_writes_what_is_learnt_so_far(policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []

    def stopping(*args: object) -> float:
        if len(steps) == 2:
            raise KeyboardInterrupt
        steps.append(0)
        return learn(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(train_value, "learn", stopping)
    assert main(["train-value", policy, "-o", str(tmp_path / "v.npz"), *FEW]) == 130
    assert load_net(tmp_path / "v.npz").HAS_VALUE


@pytest.mark.parametrize(
    "wrong",
    [["--games", "0"], ["--discount", "0"], ["--position-share", "2"], ["--temperature", "0"], ["--seed", "-1"],
     ["--opponents", "threat"], ["--opponents", "nobody"], ["-o", "x.txt"], ["-o", "/nowhere/x.npz"],
     ["--learning-rate", "-1"], ["--learning-rate", "inf"], ["--opening-plies", "1000000"], ["--win-length", "26"]],
)  # fmt: skip
def test_wrong_settings_are_one_line(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: list[str]
) -> None:
    assert main(["train-value", policy, "-o", str(tmp_path / "v.npz"), *FEW, *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    ValueNet(6, 6, filters=(1, 1), hidden=1, rng=np.random.default_rng(0)).save(policy)
    assert main(["train-value", policy, "-o", str(tmp_path / "v.npz"), *FEW]) == 2
    assert not (tmp_path / "v.npz").exists()
