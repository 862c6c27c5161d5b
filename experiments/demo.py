"""`gomoku demo`: the reference Java program's demonstration game, printed byte for byte.

The game itself stands in experiments/java/demo_game.py.
"""

import argparse
import io
import sys

from experiments.errors import EXIT_OK, UserError
from experiments.java.demo_game import demo_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--layer-seeds", type=int, nargs=4, default=[1, 2, 3, 4], metavar=("A", "B", "C", "D"),
        help="seeds of the weights of conv1, conv2, fc1, fc2 (default: 1 2 3 4)",
    )  # fmt: skip
    parser.add_argument("--bias-seed", type=int, metavar="N", help="seed of the biases (default: biases are 0)")


def run(args: argparse.Namespace) -> int:
    """Play the game and print it."""
    for seed in (*args.layer_seeds, args.bias_seed or 0):
        if not -(2**63) <= seed < 2**63:
            raise UserError(f"seed {seed}: a Java seed is a whole number from -2^63 to 2^63 - 1")
    text = demo_text(args.layer_seeds, args.bias_seed)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # the same bytes under every locale
    print(text, end="")
    return EXIT_OK
