"""What the golden files about the game ask, and this program's answers: the heuristic, the board, whole games played.

Like experiments/java/stages.py, which names them all: one function per file, everything equal bit for bit.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from env import BLACK, WHITE, Board
from experiments.java.border import PLAYER, SIZE, accepted, java_logits, java_net, java_probs, java_state, told, winner
from experiments.java.golden import Entry, net_key
from experiments.java.tally import Row
from nn.exact import java_sample_action
from nn.java_random import JavaRandom
from rl.agents import make_agent
from rl.agents.greedy import greedy_scores


def replayed(moves: Entry) -> Board:
    """Return the board after a list of [row, col], none of which may be refused."""
    board = Board()
    for move in moves.entries(len(moves.value) if isinstance(moves.value, list) else None):
        if not accepted(board, *move.integers(2)):
            raise move.damage("a move that the board accepts", move.value)
    return board


def greedy(row: Row, golden: Entry, _: Path) -> None:
    """Compare the heuristic's score of every cell for both colours, its choice, and the agent's."""
    agent, unused = make_agent("greedy:java"), JavaRandom(0)
    for entry in golden.record("positions")["positions"].entries():
        with row.guarded():
            record = entry.record("moves", "current_player", "game_over", "black", "white", "greedy")
            board = replayed(record["moves"])
            row.same(record["current_player"], PLAYER[board.to_move])
            row.same(record["game_over"], board.is_over)
            scores = {colour: greedy_scores(board.cells, colour) for colour in (BLACK, WHITE)}  # (15, 15) each
            for name, colour in (("black", BLACK), ("white", WHITE)):
                digits = ["." if score == 0 else str(len(str(score)) - 1) for score in scores[colour].ravel().tolist()]
                row.same(record[name], "".join(digits))
            value = np.maximum(scores[BLACK], scores[WHITE])
            best = int(value.argmax())
            row.same(record["greedy"], list(divmod(best, SIZE)) if value.any() else [-1, -1])
            if not board.is_over:
                row.same(record["greedy"], list(divmod(agent.choose(board, unused), SIZE)))


def env(row: Row, golden: Entry, _: Path) -> None:
    """Compare what the board says to every attempted move, allowed or not, and how it stands at the end."""
    for entry in golden.record("games")["games"].entries():
        with row.guarded():
            record = entry.record("kind", "steps", "board", "state_sha256")
            board = Board()
            was_reset = False
            for step in record["steps"].entries():
                if step.entries()[0].value == "reset":
                    board, was_reset = Board(), True
                    row.same(step, ["reset", *told(board)])
                else:
                    at_row, at_col = step.integers(7)[:2]
                    row.same(step, [at_row, at_col, int(accepted(board, at_row, at_col)), *told(board)])
            row.same(record["board"], "".join(str(PLAYER[int(stone)]) for stone in board.cells.ravel()))
            row.digest(record["state_sha256"], java_state(board))
            kind = record["kind"].string("random|greedy|near|draw|win_on_last_stone|reset_after_win|line[4-9]")
            if not fits(kind, board, was_reset):
                raise record["kind"].damage("the label of such a game", kind)


def fits(kind: str, board: Board, was_reset: bool) -> bool:
    """Whether a game ended as its label says, so far as the label says it."""
    match kind:
        case "win_on_last_stone":
            return len(board.moves) == board.cells.size and winner(board) != 0
        case "reset_after_win":
            return was_reset
        case "draw":
            return winner(board) == 0
        case "random" | "greedy" | "near":
            return True
    return longest_line(board.cells) == int(kind.removeprefix("line"))


def longest_line(cells: NDArray[np.int8]) -> int:
    """Return the length of the longest line of one colour on a board (H, W)."""
    longest = 0
    for colour in (BLACK, WHITE):
        stones = {(int(r), int(c)) for r, c in np.argwhere(cells == colour)}
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for r, c in stones:
                length = 1
                while (r + length * down, c + length * right) in stones:
                    length += 1
                longest = max(longest, length)
    return longest


def selfplay(row: Row, golden: Entry, _: Path) -> None:
    """Play whole games by sampling, and compare moves, rewards, all states, and how many numbers were drawn."""
    names = ["net", "sample_seed", "length", "winner", "actions", "players", "rewards", "states_sha256"]
    for entry in golden.record("games")["games"].entries():
        with row.guarded():
            record = entry.record(*names, "next_double_after_hex")
            net, rng = java_net(*net_key(record["net"])), JavaRandom(record["sample_seed"].integer())
            board, states, players = Board(), [], []
            while not board.is_over:
                states.append(java_state(board))
                players.append(board.to_move)
                probs = java_probs(java_logits(net, board), board)
                cell = java_sample_action(probs, rng)
                if not accepted(board, *divmod(cell, SIZE)):
                    raise entry.damage("a game without refused moves", cell)
            result = winner(board)
            row.same(record["length"], len(board.moves))
            row.same(record["winner"], result)
            row.same(record["actions"], board.moves)
            row.same(record["players"], [PLAYER[colour] for colour in players])
            row.same(record["rewards"], [0 if result == 0 else 1 if PLAYER[c] == result else -1 for c in players])
            row.digest(record["states_sha256"], np.array(states))
            row.number(record["next_double_after_hex"], rng.next_double())
