"""What the other side threatens: found as if one had passed, and which moves lie in its way."""

import re
from collections.abc import Sequence
from contextlib import suppress

import pytest

from env import BLACK, Board
from env.coords import parse_cell
from rl.search.budget import Budget, BudgetSpent
from rl.search.defence import Defence
from rl.search.forced_wins import Prover, Win, forced_win, prove, winning_moves
from rl.search.insights import insights
from rl.search.minimax import DECIDED, WIN, candidates
from rl.search.rule_file import default_rules
from rl.search.search import Insight, Search

MENACED = Board.from_moves([84, 140, 99, 94, 69, 114, 85])  # black will win by threes and fours; white is to move


def cells(names: str) -> set[int]:
    return {parse_cell(name, 15, 15) for name in re.findall(r"[a-z]\d+", names)}


def known(board: Board) -> Defence:
    defence = Defence(board)
    defence.look(Budget())
    return defence


def test_an_open_three_is_a_menace_and_its_stops_are_hopeful() -> None:
    board = Board.from_moves([parse_cell(name, 15, 15) for name in ("h8", "a1", "i8", "a15", "j8")])
    defence = known(board)
    assert not defence.is_quiet and defence.proofs
    hopeful = defence.hopeful(candidates(board))
    assert hopeful and hopeful <= cells("f8 g8 k8 l8 m8") & defence.proofs[0]


def test_where_nothing_is_threatened_everything_is_hopeful() -> None:
    board = Board.from_moves([112, 113])
    defence = known(board)
    assert defence.is_quiet and defence.proofs == []
    assert defence.hopeful([1, 2, 3]) == {1, 2, 3}


def test_moves_that_lose_are_found_and_those_outside_a_proof_do_lose() -> None:
    defence = known(MENACED)
    everything = candidates(MENACED)
    outside = [cell for cell in everything if cell not in defence.hopeful(everything)]
    assert len(outside) > len(everything) / 2
    for cell in outside[::12]:
        defence.look_after(cell, Budget(nodes=20_000))
        assert cell in defence.losses
        after = MENACED.copy()
        after.play(cell)
        assert forced_win(after, Budget(nodes=20_000), threes=True) is not None
    assert not defence.losses.keys() & defence.hopeful(everything)


def test_each_proof_narrows_what_is_hopeful_until_nothing_is_left() -> None:
    defence = known(MENACED)
    hopeful = defence.hopeful(candidates(MENACED))
    for cell in sorted(hopeful)[:4]:
        before = len(defence.proofs)
        defence.look_after(cell, Budget(nodes=5000))
        if cell in defence.losses:
            assert len(defence.proofs) == before + 1
            assert cell not in defence.hopeful(hopeful)
    defence.losses |= {cell: Win((cell,)) for cell in hopeful}
    assert defence.hopeful(hopeful) == set()


def test_what_is_broken_off_is_gone_on_with() -> None:
    defence = Defence(MENACED)
    looks = 0
    while not defence.proofs and not defence.is_quiet and looks < 5000:
        defence.look(Budget(nodes=40))
        looks += 1
    assert defence.proofs and looks > 1
    assert defence.proofs[0] == known(MENACED).proofs[0]


def test_what_has_won_after_one_move_is_tried_first_after_another() -> None:
    defence = known(MENACED)
    alone = together = 0
    for cell in candidates(MENACED)[::10]:
        after = MENACED.copy()
        after.play(cell)
        fresh, taught = Budget(nodes=5000), Budget(nodes=5000)
        with suppress(BudgetSpent):
            prove(after, fresh, threes=True)
        defence.look_after(cell, taught)
        alone, together = alone + fresh.used, together + taught.used
    assert together < 0.8 * alone


def test_the_moves_of_a_proof_are_told_with_the_stones_they_were_played_with() -> None:
    proof = Prover(MENACED, BLACK, threes=True).prove(Budget())
    assert proof is not None and proof.replies
    stones = sum(1 << cell for cell in (84, 99, 69, 85))
    told = list(winning_moves(proof, stones))
    assert told[0] == (stones, proof.move)
    for after in proof.replies.values():
        assert (stones | 1 << proof.move, after.move) in told
    assert all(held & stones == stones and not held >> move & 1 for held, move in told)


@pytest.mark.parametrize(
    ("moves", "nodes"), [(MENACED.moves, 400), (MENACED.moves, 1600), ((80, 157, 110, 174, 95, 125, 109), 5000)]
)
def test_when_the_budget_is_spent_no_barred_move_has_the_last_word(
    moves: Sequence[int], nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the last of these, the best move of a finished depth is found to lose at the next one, and time runs out."""
    searches = []
    made = Search.__init__
    monkeypatch.setattr(Search, "__init__", lambda self, *a, **k: (searches.append(self), made(self, *a, **k))[1])
    *_, last = insights(Board.from_moves(moves), default_rules(), Budget(nodes=nodes))
    assert last.depth and last.worth > -DECIDED
    assert last.line[0] not in searches[0].barred


def test_a_move_barred_as_the_budget_ends_does_not_have_the_last_word() -> None:
    budget, found, barred = Budget(nodes=10_000), [], []
    search = Search(Board.from_moves([112, 113, 97]), default_rules(), budget)

    def again(now: Insight) -> bool:
        cell = now.line[0]
        if not found or cell != found[-1].line[0] or barred:
            return False
        barred.append(cell)
        search.confine({other for other in search.first_moves() if other != cell})
        budget.limit = budget.used
        return True

    for insight in search.deepen(again=again):
        found.append(insight)  # one by one: `again` looks at the last
    assert barred and found[-2].line[0] == barred[0] != found[-1].line[0]


DRAWN = Board.from_moves([1, 0, 8, 10, 3, 16, 9, 13, 22, 7, 24, 4, 5, 18], 5, 5, 4)  # by three of its eleven moves


def holds(cell: int) -> bool:
    after = DRAWN.copy()
    after.play(cell)
    *_, last = Search(after, default_rules(), Budget()).deepen()
    return last.worth < DECIDED


@pytest.mark.parametrize("width", [1, 3, 12, None])
@pytest.mark.parametrize("nodes", [300, 30_000])
def test_a_game_is_given_up_only_when_every_move_has_lost(width: int | None, nodes: int) -> None:
    """No hopeful move holds; those which do are barred, as they lie in the way of no proof, or are not promising."""
    holding = {cell for cell in candidates(DRAWN) if holds(cell)}
    defence = known(DRAWN)
    assert len(holding) == 3 and defence.proofs and not holding & defence.hopeful(candidates(DRAWN))
    *_, last = insights(DRAWN, default_rules(), Budget(nodes=nodes), width=width)
    assert last.worth > -DECIDED and last.line[0] in holding


def test_where_all_moves_lose_what_holds_out_longest_is_played() -> None:
    board = Board.from_moves([parse_cell(name, 15, 15) for name in ("h8", "a1", "i8", "a15", "j8", "o15", "k8")])
    *_, last = insights(board, default_rules(), Budget(nodes=2000))
    assert last.worth == 2 - WIN and last.line[0] in cells("g8 l8")
