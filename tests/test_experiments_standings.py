"""What a tournament's games say, as numbers, text and pictures."""

import json
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from env import BLACK, WHITE, GameRecord, Rule
from experiments.pictures.arena_plots import (
    _short,
    rating_chart,
    rating_curve,
    result_matrix,
    tournament_figure,
    trained,
)
from experiments.strength.standings import (
    Standings,
    first_move,
    pair_counts,
    score,
    sprt_line,
    sprt_verdict,
    standings_of,
    table,
)
from rl.elo import Estimate
from rl.sprt import Sprt

PLAYERS = ("a", "b", "c")


def games(*winners: int, of: tuple[str, str] = ("", "")) -> list[GameRecord]:
    """Games of two, of which only the winning colours matter, pairs side by side; the first has black first."""
    seats = (of, of[::-1])
    return [GameRecord(5, 5, 4, Rule.FREESTYLE, (), *seats[i % 2], winner) for i, winner in enumerate(winners)]


@pytest.fixture
def standings() -> Standings:
    """a beats b with both colours; a and c win with black; b and c draw one game, c wins the other with black."""
    played = games(BLACK, WHITE, of=("a", "b")) + games(BLACK, BLACK, of=("a", "c")) + games(0, BLACK, of=("b", "c"))
    return standings_of(played, PLAYERS)


def test_results_go_by_colour(standings: Standings) -> None:
    wanted = np.zeros((3, 3, 3), dtype=int)
    wanted[0, 1, 0] = wanted[1, 0, 2] = 1  # a with black beat b; b with black lost to a
    wanted[0, 2, 0] = wanted[2, 0, 0] = 1
    wanted[1, 2, 1] = wanted[2, 1, 0] = 1
    assert (standings.results == wanted).all()
    tallies = [standings.tally(i) for i in range(3)]
    assert [(t.wins, t.draws, t.losses) for t in tallies] == [(3, 0, 1), (0, 1, 3), (2, 1, 1)]
    assert (standings.black.wins, standings.black.draws, standings.black.losses) == (4, 1, 1)
    assert [score(t) for t in tallies] == [0.75, 0.125, 0.625]
    assert standings.order == [0, 2, 1]


def test_text_and_json_say_the_same(standings: Standings) -> None:
    told = json.loads(json.dumps(standings.as_dict()))
    assert [player["name"] for player in told["players"]] == list(PLAYERS)
    for player, rating in zip(told["players"], standings.ratings.players, strict=True):
        assert (player["elo"], player["low"], player["high"]) == (rating.value, rating.low, rating.high)
        assert player["low"] < player["elo"] < player["high"] and player["games"] == 4
    assert told["matches"][0] == {"black": "a", "white": "b", "games": 1, "wins": 1, "draws": 0, "losses": 0}
    assert len(told["matches"]) == 6 and told["first_move"]["games"] == 6

    lines = table(standings).splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["1.", "a"], ["2.", "c"], ["3.", "b"]]
    assert lines[1].split()[-5:] == ["4", "3", "0", "1", "75.0%"]
    assert lines[7].split() == ["1.", "a", "1/0/0", "1/0/0"]
    assert lines[9].split() == ["3.", "b", "0/0/1", "0/1/0"]
    assert lines[-1] == first_move(standings) and "black won 66.7%, drew 16.7%, lost 16.7% of 6 games" in lines[-1]


def test_an_anchor_is_zero() -> None:
    rated = standings_of(games(BLACK, WHITE, of=("a", "b")), PLAYERS, anchor=1).ratings
    assert rated.players[1].value == 0 and rated.players[0].value > 0


def test_pairs_are_counted_by_the_first_players_points() -> None:
    played = games(BLACK, WHITE, WHITE, BLACK, BLACK, BLACK, 0, 0, BLACK, 0)
    assert [counts.tolist() for counts in pair_counts(played)] == [
        [0, 0, 0, 0, 1], [1, 0, 0, 0, 1], [1, 0, 1, 0, 1], [1, 0, 2, 0, 1], [1, 0, 2, 1, 1],
    ]  # fmt: skip


def test_the_sequential_test_ends_at_a_pair_whatever_follows() -> None:
    test = Sprt(0, 100)
    wins = games(*[BLACK, WHITE] * 40)
    found = sprt_verdict(test, wins)
    assert found["accepted"] == "H1" and 5 < found["pairs"] < 40 and found["log_ratio"] >= found["high"]
    assert sprt_verdict(test, wins + games(*[WHITE, BLACK] * 99)) == found
    assert sprt_verdict(test, wins[: 2 * found["pairs"]]) == found
    before = sprt_verdict(test, wins[: 2 * found["pairs"] - 2])
    assert before["accepted"] is None and before["pairs"] == found["pairs"] - 1
    assert sprt_line(found) == f"SPRT, 0 Elo (H0) against 100 Elo (H1): H1 accepted after {found['pairs']} pairs"
    nothing = sprt_line(sprt_verdict(test, []))
    assert nothing.endswith("undecided after 0 pairs, log-likelihood ratio 0.00 between -2.94 and 2.94")


def test_the_pictures_show_the_numbers(standings: Standings) -> None:
    left, right = Figure().subplots(1, 2)
    rating_chart(left, standings)
    (container,) = left.containers
    points = container.lines[0]
    assert points.get_xdata() == pytest.approx([standings.ratings.players[i].value for i in (0, 2, 1)])
    (bars,) = container.lines[2]
    ends = [segment[:, 0] for segment in bars.get_segments()]
    assert ends[0] == pytest.approx([standings.ratings.players[0].low, standings.ratings.players[0].high])
    assert [label.get_text() for label in left.get_yticklabels()] == ["a", "c", "b"]
    result_matrix(right, standings)
    assert {text.get_text() for text in right.texts} == {"100%", "0%", "50%\n100% drawn"}
    shares = right.images[0].get_array()
    assert shares[0, 1] == 1 and shares[2, 1] == 0.5 and np.ma.is_masked(shares[1, 1])


def test_ratings_over_training_are_drawn_in_order() -> None:
    ax = Figure().subplots()
    rating_curve(ax, [30, 10, 20], [Estimate(3, 2, 4), Estimate(1, 0, 2), Estimate(2, 1, 3)])
    assert ax.lines[0].get_xdata().tolist() == [10, 20, 30] and ax.lines[0].get_ydata().tolist() == [1, 2, 3]
    assert ax.collections[0].get_paths()[0].get_extents().get_points().tolist() == [[10, 0], [30, 4]]


def test_players_that_differ_in_a_number_are_stages_of_training() -> None:
    stages = ("policy:r/net_30.npz", "greedy", "policy:r/net_4.npz", "policy:r/net_200.npz", "policy:s/net_1.npz")
    assert trained(stages) == [(4, 2), (30, 0), (200, 3)]
    assert trained(stages[1:]) == []
    played = [game for two in combinations(stages, 2) for game in games(BLACK, WHITE, of=two)]
    figure = tournament_figure(standings_of(played, stages))
    assert len(figure.axes) == 3
    figure.savefig("/dev/null", format="png")


def test_long_names_are_shortened() -> None:
    assert _short("greedy") == "greedy"
    assert _short("policy:/a/very/long/path/to/some/run/policy.npz") == "policy:…/policy.npz"
    assert len(_short("policy:/a/" + "x" * 60 + ".npz")) == 28
