"""`gomoku info`: what a network is made of, layer by layer, and what one look at a board costs it.

It reads a file of weights, or makes a network of a given name just to look at it.
"""

import argparse
from pathlib import Path

import numpy as np

from env.rules import Rule, check_settings
from experiments.errors import EXIT_OK, UserError, did_you_mean
from nn import NETS, BoardNet, load_net, make_net
from nn.cost import Cost, net_costs

LEGEND = """\
multiply-adds of one position     parameters        H x W places, F filters, C planes in, a window of KH x KW,
convolution    H W F C KH KW      F C KH KW + F     D features in, M out
dense          D M                D M + M
normalisation  F H W              2 F               backward takes about twice the multiply-adds of forward"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("net", metavar="WEIGHTS", help=f"a file of weights, or a network's name: {', '.join(NETS)}")
    parser.add_argument("--size", type=int, metavar="N", help="board of a network named without a file (default: 15)")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    if Path(args.net).exists() or "." in args.net or "/" in args.net:
        if args.size is not None:
            raise UserError(f"--size {args.size}: a file of weights has its own; leave it out")
        net = load_net(args.net)
    elif args.net in NETS:
        size = 15 if args.size is None else args.size
        check_settings(size, size, 3, Rule.FREESTYLE)  # before a giant asks for its memory
        net = make_net(args.net, size, size, rng=np.random.default_rng(0))
    else:
        raise UserError(f"{args.net} is neither a file nor the name of a network; {did_you_mean(args.net, NETS)}")
    print(net_text(net, args.net))
    return EXIT_OK


def net_text(net: BoardNet, title: str) -> str:
    """Return the table of a network's layers, its totals, and the formulas they come from."""
    costs = net_costs(net)
    answers = ["logits"] * net.HAS_POLICY + ["value"] * net.HAS_VALUE
    sizes = ", ".join(f"{key} {_plain(value)}" for key, value in net.meta().items() if key not in ("net", "dtype"))
    rows = [("layer", "out", "parameters", "multiply-adds", ""), ("x", _shape((net.planes, net.height, net.width)))]
    rows += [_row(cost) for cost in costs]
    parameters = sum(cost.parameters for cost in costs)
    rows.append(("total", "", f"{parameters:,}", f"{sum(cost.multiply_adds for cost in costs):,}", ""))
    rows = [(*row, "", "", "")[:5] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{name:<{widths[0]}}  {out:<{widths[1]}}  {held:>{widths[2]}}  {done:>{widths[3]}}  {formula}".rstrip()
        for name, out, held, done, formula in rows
    ]
    statistics = sum(array.size for array in net.statistics().values())
    memory = (parameters + statistics) * net.dtype.itemsize
    beside = f", and {statistics:,} running statistics" if statistics else ""
    return "\n".join(
        [
            f"{title}: {type(net).__name__}, {' and '.join(answers)}; {sizes}",
            *lines,
            f"{parameters:,} parameters{beside}: {memory / 1e6:.2f} MB in {net.dtype.name}",
            "",
            LEGEND,
        ]
    )


def _row(cost: Cost) -> tuple[str, ...]:
    if not cost.multiply_adds:
        return cost.name, _shape(cost.shape)
    return cost.name, _shape(cost.shape), f"{cost.parameters:,}", f"{cost.multiply_adds:,}", cost.formula


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _plain(size: int | list[int]) -> str:
    return " ".join(map(str, size)) if isinstance(size, list) else str(size)
