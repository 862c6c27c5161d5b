"""Forced wins: found where they are, and every proof followed reply by reply on the board itself."""

import json
import os
import random
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from env import BLACK, Board, Rule
from env.bitboard import Bitboard
from env.coords import cell_name, parse_cell
from experiments import tactics_report as report
from rl.search.budget import Budget, BudgetSpent
from rl.search.forced_wins import Proof, Prover, forced_win, prove
from rl.search.fours import FourSearch, fours_by_definition
from rl.search.line_codes import code_of
from rl.search.rule_file import default_rules
from rl.search.search import Search
from rl.search.threat_board import ThreatBoard
from rl.search.threat_tables import (
    ThreatTables,
    closed_threes_by_definition,
    threats_by_definition,
    threes_by_definition,
)
from rl.search.threes import Position, ThreeSearch

ROOT = Path(__file__).parents[1]
WINS = Path(__file__).parent / "data" / "tactics" / "wins.json"
MOVE = re.compile(r"[a-z]\d+")


def board_of(moves: str, rule: Rule = Rule.FREESTYLE, size: int = 15) -> Board:
    cells = [parse_cell(name, size, size) for name in MOVE.findall(moves)]
    return Board.from_moves(cells, size, size, rule=rule)


@cache
def positions() -> list[dict]:
    return json.loads(WINS.read_text())["positions"]


def follow(board: Board, proof: Proof, seen: set | None = None) -> int:
    """Play a proof against every legal reply; return how many positions were met. Fails where a reply holds."""
    seen = set() if seen is None else seen
    board.play(proof.move)
    met = 1
    if board.is_over:
        assert board.outcome.winner == -board.to_move, "the last move of a proof wins"
    else:
        bits = Bitboard.from_board(board)
        for reply in bits.cells_of(bits.legal()):
            if reply in proof.replies:
                board.play(reply)
                assert not board.is_over
                if bytes(board.cells) not in seen:
                    seen.add(bytes(board.cells))
                    met += follow(board, proof.replies[reply], seen)
                board.undo()
            else:
                bits.play(reply)
                assert bits.winner is None
                beat(bits, proof.rest)
                bits.undo()
                met += 1
    board.undo()
    return met


def beat(bits: Bitboard, line: tuple[int, ...]) -> None:
    """Play a line of fours for the side to move, and see that it wins whatever is answered."""
    assert line, "a reply that nothing is prepared against"
    me = bits.to_move
    bits.play(line[0])
    if bits.winner is None:
        fives = bits.winning(me)
        assert fives, "a move that is no four"
        assert not bits.winning(-me), "the other side wins first"
        for answer in bits.cells_of(fives & bits.legal()):
            bits.play(answer)
            assert bits.winner is None
            if not bits.winning(me):  # no second five: the line must go on
                assert answer == line[1]
                beat(bits, line[2:])
            bits.undo()
    else:
        assert bits.winner == me
    bits.undo()


def random_board(rng: random.Random, size: int, win_length: int, rule: Rule, plies: int) -> Board | None:
    """A position nobody has won: most fives are blocked, none is played."""
    bits = Bitboard(size, size, win_length, rule)
    for _ in range(plies):
        quiet = bits.legal() & ~bits.winning(bits.to_move)
        blocks = quiet & bits.winning(-bits.to_move)
        if not quiet:
            return None
        bits.play(rng.choice(bits.cells_of(blocks if blocks and rng.random() < 0.8 else quiet)))
        if bits.winner is not None:
            return None
    return Board.from_moves(bits.moves, size, size, win_length, rule)


def random_boards(seed: int, count: int) -> list[Board]:
    rng = random.Random(seed)
    boards = []
    while len(boards) < count:
        rule = rng.choice(list(Rule))
        size, length = rng.choice([(7, 5), (8, 5), (9, 5)] if rule is Rule.RENJU else [(8, 5), (9, 5), (6, 4), (5, 4)])
        board = random_board(rng, size, length, rule, rng.randrange(6, size * size * 2 // 3))
        if board is not None:
            boards.append(board)
    return boards


# The tables


@pytest.mark.parametrize("rule", list(Rule))
def test_what_a_line_threatens_is_as_defined(rule: Rule) -> None:
    rng = random.Random(1)
    for length, win_length in ((15, 5), (7, 5), (20, 5), (6, 4), (5, 3)):
        if rule is Rule.RENJU and win_length != 5:
            continue
        tables = ThreatTables(length, length, win_length, rule)  # line 0 is the top row
        for _ in range(25):
            full, white = rng.choice((0.3, 0.5, 0.7)), rng.choice((0.1, 0.3, 0.5))
            line = tuple(0 if rng.random() > full else -1 if rng.random() < white else 1 for _ in range(length))
            found, wanted = tables.learn(0, code_of(line)), threats_by_definition(line, win_length, rule)
            for fives in (0, 1):
                assert sorted(found[fives]) == sorted(wanted[fives]), line
            for fours in (2, 3):
                assert sorted((at, sorted(ends)) for at, ends in found[fours]) == [
                    (at, sorted(ends)) for at, ends in wanted[fours]
                ], line
            for colour, threes in zip((1, -1), tables.learn_threes(0, code_of(line)), strict=True):
                assert threes == threes_by_definition(line, win_length, rule, colour), line
            for colour, threes in zip((1, -1), tables.learn_closed_threes(0, code_of(line)), strict=True):
                assert threes == closed_threes_by_definition(line, win_length, colour), line


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl.search.threat_tables.MOST_KEPT", 3)
    tables = ThreatTables(5, 5, 4, Rule.FREESTYLE)
    for code in range(1, 60):
        tables.learn(0, code)
    assert sum(map(len, tables.threats)) <= 3


def test_stones_put_and_taken_leave_the_threats_of_the_position() -> None:
    rng = random.Random(2)
    board = random_boards(3, 1)[0]
    ground, fresh = ThreatBoard(board), ThreatBoard(board)
    stones = [(cell, rng.choice((1, -1))) for cell in rng.sample(list(ground.empty()), 8)]
    for cell, colour in stones:
        ground.place(cell, colour)
    assert ground.key != fresh.key
    for cell, colour in rng.sample(stones, len(stones)):
        ground.remove(cell, colour)
    assert (ground.key, ground.codes, ground.threats) == (fresh.key, fresh.codes, fresh.threats)


# By fours


def test_the_search_by_fours_agrees_with_its_definition() -> None:
    won = 0
    for board in random_boards(4, 35):
        wanted = fours_by_definition(Bitboard.from_board(board))
        proof = prove(board, Budget(), threes=False)
        assert (proof is None) == (wanted is None), board
        if proof is not None:
            won += proof.plies > 1
            assert proof.plies <= len(wanted), board
            follow(board, proof)
    assert won > 5


def test_a_win_of_one_of_two_and_of_three_moves() -> None:
    five = forced_win(board_of("h8a1i8a3j8a5k8a7"), Budget(), threes=False)
    assert five.plies == 1 and five.moves[0] in (parse_cell("g8", 15, 15), parse_cell("l8", 15, 15))
    open_four = forced_win(board_of("h8a1i8a3j8a5"), Budget(), threes=False)
    assert open_four.plies == 3
    two_fours = forced_win(board_of("g8f8h8j4i8a1j5c1j6e1j7a3"), Budget(), threes=False)
    assert two_fours.plies == 3 and two_fours.moves[0] == parse_cell("j8", 15, 15)


def test_the_other_sides_four_is_stopped_first_and_his_open_four_ends_the_matter() -> None:
    assert forced_win(board_of("h8a1i8a2j8a3"), Budget(), threes=False) is not None
    assert forced_win(board_of("h8a1i8a2j8a3o1a4"), Budget(), threes=False) is None
    assert forced_win(board_of("h8b4i8c4j8d4o1e4"), Budget(), threes=True) is None
    stop_and_four = board_of("h8a8i8b8j8c8o1d8e5f12e6g12e7h12")  # black stops at e8, which makes a four too
    assert forced_win(stop_and_four, Budget(), threes=False).moves[0] == parse_cell("e8", 15, 15)


def test_a_game_that_is_over_or_has_not_begun_has_no_forced_win() -> None:
    assert forced_win(board_of("h8a1i8a3j8a5k8a7l8"), Budget(), threes=True) is None
    assert forced_win(Board(), Budget(), threes=True) is None


def test_white_wins_by_a_forbidden_answer() -> None:
    """Black may not stop the four b8 to e8 at f8, where he would make six in a row."""
    moves = "a8b8f5c8f6d8f7o1f10m1f9"
    board = board_of(moves, Rule.RENJU)
    proof = prove(board, Budget(), threes=False)
    assert (proof.move, proof.replies, proof.plies) == (parse_cell("e8", 15, 15), {}, 3)
    assert follow(board, proof) > 200
    assert prove(board_of(moves, Rule.STANDARD), Budget(), threes=False) is None
    line = forced_win(board, Budget(), threes=False).moves
    assert Board.from_moves([*board.moves, *line], rule=Rule.RENJU).outcome.winner == -BLACK


def test_an_answer_that_is_forbidden_to_black_is_not_in_the_line() -> None:
    """White's open four j10 is answered at l10: at g10, its other end, black would make two threes."""
    board = board_of("j9i10i12h10g8k10g11i7k8k13h12i9h11", Rule.RENJU)
    line = forced_win(board, Budget(), threes=False).moves
    assert line == tuple(parse_cell(name, 15, 15) for name in ("j10", "l10", "g10"))
    assert Board.from_moves([*board.moves, *line], rule=Rule.RENJU).outcome.winner == -BLACK
    follow(board, prove(board, Budget(), threes=False))


def test_black_who_may_not_answer_a_four_and_has_no_other_move_has_drawn() -> None:
    moves = "g1f6d6c4d7e4e7b5e1e5b1d3f2g6g3a6e2d5a7a3c6e6g5a1e3d2c7b7f5b4f1g7a4b6b3a2g2g4f3f4d4c5a5f7d1c3b2"
    board = Board.from_moves([parse_cell(name, 7, 7) for name in MOVE.findall(moves)], 7, 7, rule=Rule.RENJU)
    four = parse_cell("c2", 7, 7)
    assert four in ThreatBoard(board).fours(-BLACK)
    assert forced_win(board, Budget(), threes=True) is None
    board.play(four)
    assert board.outcome is not None and board.outcome.winner == 0


# By threes and fours


def test_a_proof_is_a_proof_on_boards_small_enough_to_play_out() -> None:
    """Four in a row on 5x5, few empty cells left: what is called won is won by plain minimax."""
    rng = random.Random(5)
    claimed = 0
    for _ in range(60):
        board = random_board(rng, 5, 4, rng.choice((Rule.FREESTYLE, Rule.STANDARD)), rng.randrange(15, 19))
        if board is not None and forced_win(board, Budget(nodes=2_000), threes=True):
            claimed += 1
            assert best_outcome(Bitboard.from_board(board), {}) == 1, board
    assert claimed >= 3


def best_outcome(bits: Bitboard, known: dict) -> int:
    """Minimax: 1 if the side to move wins, 0 a draw, -1."""
    if bits.winner is not None:
        return bits.winner * bits.to_move
    if bits.key not in known:
        best = -1
        for cell in bits.cells_of(bits.legal()):
            bits.play(cell)
            best = max(best, -best_outcome(bits, known))
            bits.undo()
            if best == 1:
                break
        known[bits.key] = best
    return known[bits.key]


def test_a_reply_outside_the_zone_changes_nothing() -> None:
    """The menace is played out against every reply that is said not to matter; only long menaces are asked."""
    asked = 0
    for board in random_boards(6, 200):
        ground, attacker = ThreatBoard(board), -board.to_move
        if ground.fives(BLACK) or ground.fives(-BLACK):
            continue
        fours = FourSearch(ground, attacker)
        menace = fours.find(None, Budget())
        if menace is None or len(menace) == 3:
            continue
        asked += 1
        zone = set(ThreeSearch(ground, attacker, fours, wide=False).zone(menace))
        bits = Bitboard.from_board(board)
        for reply in bits.cells_of(bits.legal()):
            if reply not in zone:
                bits.play(reply)
                beat(bits, menace)
                bits.undo()
    assert asked > 10


@pytest.mark.parametrize("rule", list(Rule))
def test_wins_of_a_strong_engine_are_found_and_every_reply_is_met(rule: Rule) -> None:
    """A sample for each rule; `make tactics` measures all 500."""
    found = [p for p in positions() if p["rule"] == rule.value and 5 <= p["win_plies"] <= 9][::12]
    for position in found:
        board = board_of(position["moves"], rule)
        proof = prove(board, Budget(nodes=20_000), threes=True)
        assert proof is not None, position
        before = board.copy()
        if proof.plies <= 11:
            assert follow(board, proof) > 1
        line = forced_win(board, Budget(nodes=20_000), threes=True).moves
        assert board == before, "the board is left as it was"
        for move in line:
            board.play(move)
        assert board.outcome.winner == before.to_move


def test_a_search_that_is_broken_off_again_and_again_proves_the_same() -> None:
    """A hundred nodes at a time; and a reply that was not looked at yet is never taken for one that loses."""
    for position in [p for p in positions() if p["rule"] != "renju" and 7 <= p["win_plies"] <= 9][::25]:
        board = board_of(position["moves"], Rule(position["rule"]))
        prover, proof = Prover(board, board.to_move, threes=True), None
        for _ in range(2000):
            with suppress(BudgetSpent):
                proof = prover.prove(Budget(nodes=10))
                break
        assert proof is not None
        if proof.plies <= 11:
            follow(board, proof)


def test_a_position_is_opened_as_a_whole_or_not_at_all() -> None:
    """Half of the replies would be taken for all of them."""
    ground, spent = ThreatBoard(board_of("h8a1i8a15j8c1h9c15i10e1")), 0  # black has made threes
    for nodes in range(32):
        fours, position = FourSearch(ground, BLACK), Position(False)
        search = ThreeSearch(ground, BLACK, fours, wide=False)
        search._budget, fours._nodes = Budget(nodes=0), 31 - nodes  # so many nodes pass before the budget is asked
        stones = ground.mark()
        try:
            search._open(position)
        except BudgetSpent:
            spent += 1
            assert position.edges is None and position.next == [] and position.beaten == {} and position.line is None
        else:
            assert position.edges is not None
        ground.return_to(stones)
    assert 2 < spent < 32


def test_a_prover_may_ask_as_if_the_other_side_were_to_move() -> None:
    board = board_of("h8a1i8a15j8c1")  # black's open three; white has just passed, as it were
    assert Prover(board, board.to_move, threes=False).prove(Budget()) is not None
    board = board_of("h8a1i8a15j8")
    assert Prover(board, -board.to_move, threes=False).prove(Budget()) is not None
    assert Prover(board, board.to_move, threes=True).prove(Budget()) is None


def test_a_spent_budget_is_told_from_a_win_that_is_not_there() -> None:
    hard = board_of(next(p["moves"] for p in positions() if p["rule"] == "freestyle" and p["win_plies"] >= 21))
    budget = Budget(nodes=50)
    assert forced_win(hard, budget, threes=True) is None and budget.spent
    with pytest.raises(BudgetSpent):
        prove(hard, Budget(nodes=50), threes=True)
    budget = Budget(nodes=50_000)
    assert forced_win(hard, budget, threes=False) is None and not budget.spent


# The report


def test_the_report_measures_a_file_and_says_what_was_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "few.json"
    file.write_text(json.dumps({"positions": [p for p in positions() if p["win_plies"] == 3][:4]}))
    assert report.main([str(file)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^all +4 +4 +100\.0 +4 +4 ", out, re.M) and "fewer: none" in out
    quiet = {"rule": "standard", "moves": "h8a1", "to_move": "black", "win_plies": 9}
    file.write_text(json.dumps({"positions": [quiet]}))
    assert report.main([str(file), "--seconds", "0.01"]) == 1
    assert "0 (standard, 9 plies)" in capsys.readouterr().out
    first = Search(board_of("h8a1", Rule.STANDARD), default_rules(), Budget()).first_moves()[0]
    file.write_text(json.dumps({"positions": [{**quiet, "first": cell_name(first, 15, 15)}]}))
    assert report.main([str(file), "--seconds", "1e-6"]) == 0  # the player's first thought, which proves nothing
    assert re.search(r"^all +1 +1 +100\.0 +0 +0 ", capsys.readouterr().out, re.M)


def test_a_reader_who_has_gone_is_no_fault_of_the_report(tmp_path: Path) -> None:
    file = tmp_path / "few.json"
    file.write_text(json.dumps({"positions": [p for p in positions() if p["win_plies"] == 3][:1]}))
    words = [sys.executable, "-m", "experiments.tactics_report", str(file)]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    os.close(writer)
    assert done.returncode == 141 and "Error" not in done.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{}", "positions"), ("[", "few.json"), ('{"positions": [{"moves": "z9", "rule": "standard"}]}', "z9")],
)
def test_a_file_of_something_else_is_one_clear_line(
    text: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "few.json"
    file.write_text(text)
    assert report.main([str(file)]) == 2
    err = capsys.readouterr().err
    assert complaint in err and err.count("\n") == 1
