"""The reference Java program's demonstration game: its network against the greedy rule, byte for byte.

The network is untrained and always plays its likeliest cell; the texts are the Java program's own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from env import BLACK, WHITE, Board
from experiments.java.border import SIZE, java_logits, java_net, java_probs
from nn.exact import java_argmax
from nn.java_random import JavaRandom
from rl.agents import make_agent

STONES = {0: ".", BLACK: "X", WHITE: "O"}
TITLE = "五子棋AI演示局（CNN策略网络 vs 贪心启发式）"  # a demonstration: CNN policy network against greedy heuristic
PLAYERS = {BLACK: "AI", WHITE: "贪心"}  # greedy
RESULTS = {BLACK: "胜者: AI", WHITE: "胜者: 贪心启发式", 0: "和棋"}  # winner: AI; winner: greedy heuristic; a draw


def demo_text(layer_seeds: Sequence[int], bias_seed: int | None) -> str:
    """Return the whole output: two header lines, every move with the board after it, the result."""
    net = java_net(tuple(layer_seeds), bias_seed)
    greedy, unused = make_agent("greedy:java"), JavaRandom(0)
    board = Board()
    text = [f"{TITLE}\n{'=' * 40}\n"]
    while board.outcome is None:
        mover = board.to_move
        if mover == BLACK:
            cell = java_argmax(java_probs(java_logits(net, board), board))
        else:
            cell = greedy.choose(board, unused)
        board.play(cell)
        text.append(f"{PLAYERS[mover]}落子: ({cell // SIZE}, {cell % SIZE})\n{java_board_text(board.cells)}")
    return "".join([*text, f"{RESULTS[board.outcome.winner]}\n"])


def java_board_text(cells: NDArray[np.int8]) -> str:
    """Return the board (H, W) as the Java program prints it: column digits, a line a row, an empty line."""
    lines = ["  " + "".join(str(col % 10) for col in range(cells.shape[1]))]
    lines += [f"{row % 10} {''.join(STONES[int(stone)] for stone in stones)}" for row, stones in enumerate(cells)]
    return "\n".join([*lines, "", ""])
