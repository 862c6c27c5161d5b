"""Pictures of games show what was played: lengths by winner, first moves, chances ply by ply."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from env import GameRecord, Rule
from env.svg import heat_colour
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.pictures.game_plots import chances_along, first_move_map, length_histogram, value_curve
from experiments.strength.standings import standings_of
from nn import ValueNet
from rl.elo import DRAW, LOSS, WIN

WON = (0, 6, 1, 7, 2, 8, 3)  # four in a row on 6 x 6


def game(moves: tuple[int, ...], winner: int, opening: int = 0, names: tuple[str, str] = ("a", "b")) -> GameRecord:
    return GameRecord(6, 6, 4, Rule.FREESTYLE, moves, *names, winner, opening)


GAMES = [game(WON, 1), game(WON[:6], -1), game(WON[:6], -1), game((14, *WON), 0, opening=1)]


def test_lengths_are_counted_by_winner() -> None:
    ax = length_histogram(Figure().subplots(), GAMES)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    bars = {
        label: [(round(bar.get_x() + bar.get_width() / 2), bar.get_height()) for bar in container]
        for label, container in zip(labels, ax.containers, strict=True)
    }
    assert bars == {
        "black won (25%)": [(6, 0), (7, 1), (8, 0)],
        "white won (50%)": [(6, 2), (7, 0), (8, 0)],
        "nobody won (25%)": [(6, 0), (7, 0), (8, 1)],
    }
    assert ax.get_title() == "4 games, 6.8 plies on average"
    assert ax.get_xlabel() == "game length (plies)"


def test_many_lengths_share_bars_and_none_is_lost() -> None:
    games = [game(tuple(range(length)), 0) for length in range(1, 36)]
    ax = length_histogram(Figure().subplots(), games)
    assert ax.get_xlabel() == "game length (plies), 2 a bar"
    assert sum(bar.get_height() for bar in ax.patches) == 35


def test_the_map_counts_the_first_own_move() -> None:
    ax = first_move_map(Figure().subplots(), [*GAMES, game((14,), 0, opening=1)])
    tints = np.asarray(ax.get_images()[0].get_array())
    assert tuple(tints[0, 0]) == heat_colour(1.0)  # all four that had a move of their own began at 0
    assert tuple(tints[2, 2]) == heat_colour(0.0)
    assert ax.get_title().startswith("first move, after the opening, 4 games")


def test_a_map_needs_moves_on_one_board() -> None:
    larger = GameRecord(7, 7, 4, Rule.FREESTYLE, (0,), "a", "b", 0)
    with pytest.raises(UserError, match="several board sizes"):
        first_move_map(Figure().subplots(), [*GAMES, larger])
    with pytest.raises(UserError, match="no game has a move"):
        first_move_map(Figure().subplots(), [game((14,), 0, opening=1)])


def test_the_curve_is_black_chance_after_every_ply() -> None:
    net = ValueNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(1))
    net.fc2.bias.value[...] = 0.5
    chances = chances_along(GAMES[0], np.random.default_rng(1), net)
    assert len(chances) == 8 and chances[-1] == 1.0
    assert chances[0] > 0.5 > chances[1]  # a network that thinks well of the side to move, seen by black
    ax = value_curve(Figure().subplots(), GAMES[0], chances)
    (curve,) = (line for line in ax.get_lines() if len(line.get_xdata()) == 8)
    assert curve.get_xydata().tolist() == [[ply, chance] for ply, chance in enumerate(chances)]
    after = {dots.get_label(): dots.get_offsets()[:, 0].tolist() for dots in ax.collections}
    assert after == {"after black's move": [1, 3, 5, 7], "after white's move": [2, 4, 6]}
    assert ax.get_title() == "a (black) – b (white): black won"


def test_games_played_on_decide_without_a_network() -> None:
    chances = chances_along(GAMES[0], np.random.default_rng(1))
    assert len(chances) == 8 and chances[-1] == 1.0
    assert chances[0] < chances[-2]  # black has three in a row and the move


def test_standings_count_by_name_and_colour() -> None:
    found = standings_of([*GAMES, game(WON, 1, names=("b", "a"))])
    assert found.players == ("a", "b")
    assert found.results[0, 1, [WIN, DRAW, LOSS]].tolist() == [1, 1, 2]
    assert found.results[1, 0, [WIN, DRAW, LOSS]].tolist() == [1, 0, 0]


@pytest.mark.parametrize("kind", ["lengths", "first-moves", "ratings", "value"])
def test_the_command_draws_the_games_of_a_run(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(tmp_path), "--kind", kind]) == 2
    assert "there are no games/*.txt in it yet" in capsys.readouterr().err
    (tmp_path / "games").mkdir()
    text = "".join(played.to_line() + "\n" for played in (GAMES[0], game(WON, 1, names=("b", "a"))))
    (tmp_path / "games" / "a.txt").write_text(text)
    assert main(["plot", str(tmp_path), "--kind", kind]) == 0
    assert (tmp_path / f"{kind}.png").stat().st_size > 5000
    if kind == "value":
        capsys.readouterr()
        assert main(["plot", str(tmp_path), "--kind", kind, "--game", "3"]) == 2
        assert capsys.readouterr().err == f"gomoku: --game 3: there are 2 games in {tmp_path}; use 1 to 2\n"


def test_a_network_is_no_file_of_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "value.npz"
    ValueNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(1)).save(path)
    assert main(["plot", str(path), "--kind", "value"]) == 2
    assert capsys.readouterr().err.startswith(f"gomoku: {path}: not a text, and so no file of games")
