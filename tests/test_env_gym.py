import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import env
from env import BLACK, WHITE, Board, GomokuEnv, IllegalMoveError, Rule
from env.observation import planes


def random_reply(board, rng):
    return int(rng.choice(np.flatnonzero(board.legal_mask())))


def first_free(board, rng):
    return int(board.legal_mask().argmax())


class FirstFree:
    def choose(self, board, rng):
        return first_free(board, rng)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"size": 6, "win_length": 4},
        {"size": 3, "win_length": 3},
        {"size": 3, "win_length": 1},
        {"size": 25},
        {"size": None, "height": 5, "width": 9, "rule": "standard"},
        {"size": 9, "rule": "standard", "illegal": "raise"},
        {"size": 7, "opponent": random_reply},
        {"size": 7, "opponent": FirstFree(), "colour": "white"},
        {"size": 7, "opponent": FirstFree(), "colour": "black", "rule": Rule.STANDARD},
    ],
    ids=str,
)
def test_gymnasium_finds_nothing_to_object_to(settings, capsys):
    """Warnings are errors here; check_env also renders every declared mode."""
    made = gymnasium.make("env:Gomoku-v0", **settings)
    check_env(made.unwrapped)
    assert "a  b  c" in capsys.readouterr().out  # the human mode printed a board
    assert isinstance(made.unwrapped, GomokuEnv)


def test_importing_env_registers_the_game_in_a_fresh_interpreter():
    code = "import gymnasium; print(gymnasium.make('env:Gomoku-v0', size=4, win_length=3).observation_space.shape)"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.stderr) == ("(2, 4, 4)", "")


def test_a_game_of_both_colours_by_one_player():
    game = GomokuEnv(size=4, win_length=3)
    observation, info = game.reset()
    board = Board(4, 4, 3)
    for action in (0, 4, 1, 5, 2):
        assert (observation == planes(board)).all() and observation.dtype == np.float32
        assert (info["action_mask"] == board.legal_mask()).all() and info["action_mask"].dtype == np.int8
        assert (game.action_masks() == board.legal_mask()).all() and game.action_masks().dtype == np.bool_
        assert info["to_move"] == board.to_move
        assert game.action_space.sample(info["action_mask"]) in np.flatnonzero(board.legal_mask())
        board.play(action)
        observation, reward, terminated, truncated, info = game.step(np.int64(action))
        assert (reward, terminated, truncated) == (float(action == 2), action == 2, False)
        assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
    assert (observation == planes(board)).all()
    assert not info["action_mask"].any()
    assert (info["winner"], info["illegal"], info["to_move"]) == (BLACK, False, WHITE)


def test_white_is_rewarded_for_its_own_win_and_nobody_for_a_draw():
    game = GomokuEnv(size=3, win_length=3)
    game.reset()
    rewards = [game.step(action)[1] for action in (0, 3, 1, 4, 8, 5)]
    assert rewards == [0, 0, 0, 0, 0, 1]
    game.reset()
    steps = [game.step(action) for action in (0, 1, 2, 4, 3, 5, 7, 6, 8)]
    assert [step[1] for step in steps] == [0] * 9
    assert steps[-1][2:4] == (True, False) and steps[-1][4]["winner"] == 0


@pytest.mark.parametrize("action", [4, -1, 9])
def test_an_illegal_move_loses_the_game(action):
    game = GomokuEnv(size=3, win_length=3)
    game.reset()
    before, *_ = game.step(4)
    observation, reward, terminated, truncated, info = game.step(action)
    assert (observation == before).all()
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["illegal"] is True and info["winner"] == BLACK and info["to_move"] == WHITE
    assert not info["action_mask"].any() and not game.action_masks().any()
    with pytest.raises(ResetNeeded, match="reset"):
        game.step(0)
    _, info = game.reset()
    assert info["illegal"] is False and info["action_mask"].all()


def test_an_illegal_move_may_raise_instead_and_the_game_goes_on():
    game = GomokuEnv(size=3, win_length=3, illegal="raise")
    game.reset()
    game.step(4)
    with pytest.raises(IllegalMoveError, match="b2"):
        game.step(4)
    assert game.step(0)[1:4] == (0.0, False, False)
    assert game.board.moves == [4, 0]


def test_a_step_needs_a_reset():
    game = GomokuEnv(size=3, win_length=1)
    with pytest.raises(ResetNeeded):
        game.step(0)
    game.reset()
    assert game.step(0)[1] == 1.0
    with pytest.raises(ResetNeeded):
        game.step(1)


def test_with_an_opponent_a_step_is_my_move_and_the_reply():
    game = GomokuEnv(size=3, win_length=3, opponent=FirstFree(), colour="black")
    observation, info = game.reset(seed=1)
    assert info["to_move"] == BLACK and not observation.any()
    observation, reward, terminated, _, info = game.step(8)
    assert game.board.moves == [8, 0] and info["to_move"] == BLACK
    assert observation[0].sum() == observation[1].sum() == 1 and observation[0, 2, 2] == 1  # mine first
    assert (reward, terminated) == (0.0, False)
    assert game.step(7)[1:3] == (0.0, False)
    observation, reward, terminated, _, info = game.step(3)  # not 6 or 2: the reply makes three
    assert game.board.moves == [8, 0, 7, 1, 3, 2]
    assert (reward, terminated, info["winner"]) == (-1.0, True, WHITE)


def test_my_win_leaves_no_time_for_a_reply():
    game = GomokuEnv(size=3, win_length=3, opponent=first_free, colour="black")
    game.reset(seed=1)
    game.step(8)
    game.step(7)
    _, reward, terminated, _, info = game.step(6)
    assert (reward, terminated, info["winner"]) == (1.0, True, BLACK)
    assert game.board.moves == [8, 0, 7, 1, 6]


def test_as_white_the_opponent_begins_and_rewards_are_still_mine():
    game = GomokuEnv(size=3, win_length=3, opponent=first_free, colour="white")
    observation, info = game.reset(seed=1)
    assert game.board.moves == [0] and info["to_move"] == WHITE and observation[1, 0, 0] == 1
    game.step(8)
    _, reward, terminated, _, info = game.step(7)
    assert game.board.moves == [0, 8, 1, 7, 2]
    assert (reward, terminated, info["winner"]) == (-1.0, True, BLACK)
    game.reset()
    for action in (4, 2):
        game.step(action)
    assert game.step(6)[1:3] == (1.0, True)
    game.reset()
    game.step(8)
    assert game.step(8)[1:3] == (-1.0, True)  # my illegal move


def test_a_random_colour_and_a_random_opponent_follow_the_seed():
    def trace(seed):
        game = GomokuEnv(size=5, win_length=4, opponent=random_reply)
        info = game.reset(seed=seed)[1]
        colours, moves = [], []
        for _ in range(30):
            colours.append(info["to_move"])
            terminated = False
            while not terminated:
                _, _, terminated, _, info = game.step(int(np.flatnonzero(info["action_mask"])[0]))
            moves.append(game.board.moves)
            info = game.reset()[1]
        return colours, moves

    colours, moves = trace(3)
    assert (colours, moves) == trace(3)
    assert moves != trace(4)[1]
    assert 5 <= colours.count(BLACK) <= 25


def test_an_opponent_cannot_disturb_the_game_nor_break_it_silently():
    def meddler(board, rng):
        board.play(0)
        return 1

    game = GomokuEnv(size=3, win_length=3, opponent=meddler, colour="black")
    game.reset(seed=0)
    game.step(8)
    assert game.board.moves == [8, 1]
    with pytest.raises(IllegalMoveError, match=r"the opponent made an illegal move: b3 \(cell 1\) is occupied"):
        game.step(7)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"size": 2}, ValueError, "height 2: a board has from 3 to 25"),
        ({"size": None}, ValueError, "both height and width"),
        ({"size": 5, "win_length": 6}, ValueError, "win_length 6"),
        ({"rule": "freestlye"}, ValueError, "rule 'freestlye': use freestyle, standard, renju"),
        ({"opponent": "greedy"}, TypeError, r"make_agent\('greedy'\)"),
        ({"opponent": 3}, TypeError, "opponent 3: pass an agent"),
        ({"opponent": first_free, "win_length": 1}, ValueError, "win_length 1 with an opponent"),
        ({"colour": "red"}, ValueError, "colour 'red': use black, white, random"),
        ({"illegal": "ignore"}, ValueError, "illegal 'ignore': use lose, raise"),
        ({"render_mode": "svg"}, ValueError, "render_mode 'svg': use ansi, rgb_array, human"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, error, message):
    with pytest.raises(error, match=message):
        GomokuEnv(**settings)


def test_the_board_it_shows_is_a_copy():
    game = GomokuEnv(size=3, win_length=3)
    game.reset()
    game.board.play(0)
    assert game.board.moves == []


def test_render_modes(capsys):
    settings = {"size": 4, "win_length": 3}
    text = GomokuEnv(**settings, render_mode="ansi")
    text.reset()
    text.step(0)
    assert text.render().startswith(" 4 (X) .")
    pixels = GomokuEnv(**settings, render_mode="rgb_array")
    pixels.reset()
    assert pixels.render().shape == (128, 128, 3)
    assert capsys.readouterr().out == ""
    human = GomokuEnv(**settings, render_mode="human")
    human.reset()
    human.step(0)
    assert human.render() is None
    assert capsys.readouterr().out.count("move 1, last a4: white (O) to move") == 2
    silent = gymnasium.make("Gomoku-v0", **settings).unwrapped
    silent.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None


def test_public_names_of_the_package():
    assert set(env.__all__) >= {"Board", "Rule", "Outcome", "BLACK", "WHITE", "EMPTY", "IllegalMoveError", "Lockstep"}
    assert [name for name in env.__all__ if not hasattr(env, name)] == []


@pytest.mark.parametrize("action", [1.7, 1.0, np.float32(1), "1", None, [1], np.nan])
def test_an_action_is_a_whole_number(action):
    env = GomokuEnv(size=3, win_length=3)
    env.reset()
    with pytest.raises(TypeError):
        env.step(action)
    assert env.board.moves == []
    for number in (0, np.int64(1), np.array(2), np.uint8(3)):
        env.step(number)
    assert env.board.moves == [0, 1, 2, 3]


def test_a_reply_is_a_whole_number():
    env = GomokuEnv(size=3, win_length=3, opponent=lambda board, rng: 1.7, colour="black")
    env.reset()
    with pytest.raises(TypeError):
        env.step(0)
