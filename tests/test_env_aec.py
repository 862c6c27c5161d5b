import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import env.aec
from env import IllegalMoveError
from env.aec import GomokuAEC

SETTINGS = [{}, {"size": 3, "win_length": 3}, {"size": None, "height": 5, "width": 8, "rule": "renju"}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_pettingzoo_finds_nothing_to_object_to(settings, capsys):
    """Warnings are errors here."""
    api_test(env.aec.env(**settings), num_cycles=60)
    api_test(GomokuAEC(**settings), num_cycles=20)
    seed_test(lambda: env.aec.env(**settings), num_cycles=60)
    capsys.readouterr()


def test_every_render_mode_renders(capsys):
    # render_test samples without the mask, so a large board keeps its few moves from meeting.
    render_test(lambda **mode: env.aec.env(size=15, **mode))
    assert "move 0: black (X) to move" in capsys.readouterr().out


def test_the_parallel_form_passes_too(capsys):
    class Masked(turn_based_aec_to_parallel(env.aec.env(size=5, win_length=4)).__class__):
        """parallel_api_test samples without the mask in infos; here the agent to move then plays a legal cell."""

        def step(self, actions):
            mover = self.aec_env.agent_selection
            legal = np.flatnonzero(self.aec_env.infos[mover]["action_mask"])
            return super().step({**actions, mover: int(legal[actions[mover] % len(legal)])})

    parallel_api_test(Masked(env.aec.env(size=5, win_length=4)), num_cycles=40)
    capsys.readouterr()


def play(game, actions):
    """(agent, reward at its turn) for every action, then for the agents left at the end."""
    seen = []
    actions = iter(actions)
    for agent in game.agent_iter():
        _, reward, terminated, truncated, _ = game.last()
        seen.append((agent, reward))
        game.step(None if terminated or truncated else next(actions))
    return seen


def test_a_registered_game_is_played_and_both_are_rewarded():
    game = pettingzoo.make("aec", "gomoku-v0", size=3, win_length=3)
    game.reset(seed=0)
    turns = ["black_0", "white_0", "black_0", "white_0", "black_0"]
    assert play(game, [0, 3, 1, 4, 2]) == [*((agent, 0) for agent in turns), ("white_0", -1), ("black_0", 1)]
    assert game.agents == []
    game.reset()
    assert [reward for _, reward in play(game, [0, 3, 1, 4, 8, 5])][-2:] == [-1, 1]
    game.reset()
    assert {reward for _, reward in play(game, [0, 1, 2, 4, 3, 5, 7, 6, 8])} == {0}


def test_each_agent_sees_its_own_stones_first_and_its_own_mask():
    game = env.aec.env(size=None, height=3, width=4, win_length=3)
    game.reset()
    game.step(5)
    white, black = game.observe("white_0"), game.observe("black_0")
    assert white.shape == (3, 4, 3) and white.dtype == np.int8
    assert np.argwhere(white).tolist() == [[1, 1, 1]]
    assert np.argwhere(black[:, :, :2]).tolist() == [[1, 1, 0]] and black[:, :, 2].all()
    mask = game.infos["white_0"]["action_mask"]
    assert mask.dtype == np.int8 and mask.tolist() == [int(cell != 5) for cell in range(12)]
    assert not game.infos["black_0"]["action_mask"].any()
    assert game.infos["white_0"]["action_mask"] is not game.infos["black_0"]["action_mask"]


def test_an_illegal_move_loses_in_the_wrapped_game_and_raises_in_the_bare_one():
    game = env.aec.env(size=3, win_length=3)
    game.reset()
    game.step(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game.step(4)
    assert game.terminations == {"black_0": True, "white_0": True}
    assert game.rewards == {"black_0": 0, "white_0": -1}
    bare = GomokuAEC(size=3, win_length=3)
    bare.reset()
    bare.step(4)
    with pytest.raises(IllegalMoveError, match="b2"):
        bare.step(4)
    assert bare.agent_selection == "white_0"
    game.reset()
    with pytest.raises(AssertionError, match="not in action space"):
        game.step(9)


def test_wrong_settings_are_refused_by_name():
    with pytest.raises(ValueError, match="height 2"):
        env.aec.env(size=2)
    with pytest.raises(ValueError, match="render_mode 'svg'"):
        env.aec.env(render_mode="svg")
