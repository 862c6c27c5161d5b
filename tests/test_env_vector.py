import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from env import IllegalMoveError
from env.vector_env import GomokuVectorEnv


def random_reply(board, rng):
    return int(rng.choice(np.flatnonzero(board.legal_mask())))


def assert_same(ours, theirs, path="step"):
    """Equal to the last key, dtype, shape and value."""
    assert type(ours) is type(theirs), path
    if isinstance(ours, tuple):
        for n, pair in enumerate(zip(ours, theirs, strict=True)):
            assert_same(*pair, f"{path}[{n}]")
    elif isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), path
        for key in ours:
            assert_same(ours[key], theirs[key], f"{path}[{key}]")
    else:
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), path
        if ours.dtype == object:
            for n, pair in enumerate(zip(ours, theirs, strict=True)):
                assert [item is None for item in pair] in ([True, True], [False, False]), path
                if pair[0] is not None:
                    assert_same(*pair, f"{path}[{n}]")
        else:
            assert (ours == theirs).all(), path


SETTINGS = [
    {"size": 5, "win_length": 4},
    {"size": 3, "win_length": 1},
    {"size": None, "height": 4, "width": 6, "win_length": 3, "rule": "standard"},
    {"size": None, "height": 5, "width": 7, "rule": "renju"},
    {"size": 4, "win_length": 3, "opponent": random_reply},
    {"size": None, "height": 3, "width": 5, "win_length": 3, "opponent": random_reply, "colour": "white"},
]


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED], ids=lambda mode: mode.value)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_is_as_many_single_games_ply_by_ply(settings, mode):
    """Gymnasium's own SyncVectorEnv over single games is the definition, final observations and infos included."""
    ours = gymnasium.make_vec("env:Gomoku-v0", num_envs=7, autoreset_mode=mode, **settings)
    theirs = gymnasium.make_vec(
        "env:Gomoku-v0", num_envs=7, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **settings
    )
    assert isinstance(ours, GomokuVectorEnv)
    assert ours.metadata["autoreset_mode"] is mode
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    assert (ours.single_action_space, ours.num_envs) == (theirs.single_action_space, 7)
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    rng = np.random.default_rng(0)
    ended, illegal = 0, 0
    for step in range(200):
        masks = ours.action_masks()
        assert (masks == np.stack(theirs.call("action_masks"))).all()
        legal = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        actions = np.where(rng.random(7) < 0.05, rng.integers(-1, masks.shape[1] + 1, size=7), legal)
        result = ours.step(actions)
        assert_same(result, theirs.step(actions), f"step {step}")
        assert ours.observation_space.contains(result[0])
        terminated = result[2]
        ended += terminated.sum()
        if mode is AutoresetMode.DISABLED and terminated.any():
            illegal += result[4]["illegal"].sum()
            assert "final_obs" not in result[4]
            options = [{"reset_mask": terminated.copy()} for _ in range(2)]
            assert_same(ours.reset(options=options[0]), theirs.reset(options=options[1]))
        elif terminated.any():
            illegal += result[4]["final_info"]["illegal"].sum()
    assert ended > 20 and illegal > 5
    assert_same(ours.reset(seed=[None, *range(6)]), theirs.reset(seed=[None, *range(6)]))


def test_nothing_it_returns_is_used_again():
    games = gymnasium.make_vec("env:Gomoku-v0", num_envs=3, size=3, win_length=2)
    results = [games.reset(), games.step(np.array([0, 0, 0])), games.step(np.array([8, 1, 8])), games.step([1, 1, 7])]

    def arrays(item):
        if isinstance(item, np.ndarray):
            yield item
        elif isinstance(item, dict | tuple):
            for part in item.values() if isinstance(item, dict) else item:
                yield from arrays(part)

    found = [array for result in results for array in arrays(result)]
    assert len(found) > 40
    for n, one in enumerate(found):
        assert not any(np.shares_memory(one, other) for other in found[:n])


def test_a_finished_game_waits_when_autoreset_is_disabled():
    games = GomokuVectorEnv(3, size=3, win_length=1, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded):
        games.step(np.zeros(3, dtype=np.int64))
    games.reset()
    assert games.step(np.array([0, 0, 0]))[2].all()
    games.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(ResetNeeded, match=r"no running game in \[1\]"):
        games.step(np.array([0, 0, 0]))
    games.reset()
    games.step(np.array([0, 0, 0]))


def test_an_illegal_move_may_raise_and_then_no_game_has_moved():
    games = GomokuVectorEnv(2, size=3, win_length=3, illegal="raise")
    games.reset()
    games.step(np.array([4, 4]))
    with pytest.raises(IllegalMoveError, match="game 1: b2"):
        games.step(np.array([0, 4]))
    assert games.action_masks().sum() == 16
    assert games.step(np.array([0, 0]))[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda games: games.reset(options={"reset_mask": [True, False]}), "must be an array"),
        (lambda games: games.reset(options={"reset_mask": np.array([1, 0])}), "must be an array"),
        (lambda games: games.reset(options={"reset_mask": np.array([True])}), "must be an array"),
        (lambda games: games.reset(options={"reset_mask": np.array([False, False])}), "marks no game"),
        (lambda games: games.reset(seed=[1]), "1 seeds for num_envs=2"),
        (lambda games: games.step(np.array([1])), "one for each of 2 games"),
        (lambda games: GomokuVectorEnv(2, autoreset_mode="NextStep"), "autoreset_mode NextStep"),
        (lambda games: GomokuVectorEnv(0), "games 0"),
        (lambda games: GomokuVectorEnv(2, colour="red"), "colour 'red'"),
    ],
)
def test_wrong_calls_are_refused(call, message):
    games = GomokuVectorEnv(2, size=3, win_length=3)
    games.reset()
    with pytest.raises(ValueError, match=message):
        call(games)


def test_gymnasiums_wrappers_take_it():
    games = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        gymnasium.make_vec("env:Gomoku-v0", num_envs=4, size=3, win_length=3)
    )
    _, infos = games.reset(seed=0)
    rng = np.random.default_rng(0)
    lengths = []
    for _ in range(60):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        _, _, _, _, infos = games.step(actions)
        if "final_info" in infos and "episode" in infos["final_info"]:
            lengths += infos["final_info"]["episode"]["l"][infos["_final_info"]].tolist()
        elif "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert len(lengths) > 20 and all(5 <= length <= 9 for length in lengths)


@pytest.mark.parametrize("actions", [[0.0, 1.0], [True, False], ["0", "1"], [None, 1]])
def test_actions_are_whole_numbers(actions):
    games = GomokuVectorEnv(2, size=3, win_length=3)
    games.reset()
    with pytest.raises(TypeError, match="cells are whole numbers"):
        games.step(np.array(actions))
    assert games.action_masks().all()
