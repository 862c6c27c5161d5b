"""`gomoku plot`: a picture of runs, of recorded games or of a network, by its kind; with --live again and again.

What is drawn stands in plots, arena_plots, game_plots and net_plots, which notebooks use as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from env import Board
from env.rules import usual_win_length
from experiments import plots
from experiments.errors import EXIT_OK, UserError
from experiments.files.game_files import read_games
from experiments.files.position import chosen_game, move_names, play_names
from experiments.files.run_rows import NothingYet, checked_rows, csv_text, reached
from experiments.metrics import Row
from experiments.pictures.figures import save_figure
from experiments.strength.seeds import experiment_name, group_by_config
from experiments.strength.standings import standings_of
from nn import BoardNet, load_net
from nn.weights import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POLL_SECONDS = 2.0
SIZE = (7.0, 4.2)  # inches: 770 dots wide, about what a README shows


@dataclass(frozen=True)
class RunKind:
    """A picture of one run: what of a row it needs, by the beginning of a dotted name, and how it is drawn."""

    help: str
    needs: str
    draw: Callable[[Figure, Sequence[Row]], object]
    size: tuple[float, float] = SIZE


def _one(view: Callable[..., object]) -> Callable[[Figure, Sequence[Row]], object]:
    return lambda figure, rows: view(figure.subplots(), rows)


def _gradients(figure: Figure, rows: Sequence[Row]) -> None:
    left, right = figure.subplots(1, 2, sharex=True)
    plots.gradient_curve(left, rows)
    plots.change_curve(right, rows)


def _length(figure: Figure, rows: Sequence[Row]) -> None:
    plots.length_curve(figure.subplots(), rows).set_xlim(left=0)  # drills, of no length, come first


CURVE, COMPARE = "curve", "compare"
OF_RUNS = {
    "panel": RunKind("six views of one run", "evaluation", plots.training_panel, (10, 6)),
    "opponents": RunKind("last win rate against each opponent", "evaluation", _one(plots.opponent_chart)),
    "tactics": RunKind("tactical suite over training", "evaluation.tactics", _one(plots.tactics_curve)),
    "entropy": RunKind("entropy of the policy's moves", "entropy", _one(plots.entropy_curve)),
    "gradients": RunKind("gradient norms, and updates over weights", "gradient_norm", _gradients, (9, 3.8)),
    "length": RunKind("length of training games", "game_length", _length),
}
OF_GAMES = {
    "lengths": "how long the games were, by who won",
    "first-moves": "where the first own move fell",
    "ratings": "Elo and results by colour, as gomoku tournament draws them",
    "value": "black's chance along one game (--game N), by the network --net, or by games that greedy plays on",
}
OF_NETS = {
    "policy": "probabilities over the board",
    "filters": "kernels of the first layer, of networks that begin with a Conv2D (net=policy or conv; not line)",
    "activations": "where features answer",
    "flow": "slopes, parameter by parameter",
}
KINDS = (CURVE, COMPARE, *OF_RUNS, *OF_GAMES, *OF_NETS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.formatter_class = argparse.RawTextHelpFormatter
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="+", type=Path, help="run directories, files of games, or weights"
    )
    listed = {
        "of runs": {
            CURVE: "win rate over training (the default); several seeds: mean and 95 %% interval",
            COMPARE: "what several experiments reached at the end, seed by seed, and the mean's 95 %% interval",
        }
        | {name: kind.help for name, kind in OF_RUNS.items()},
        "of files of games, or of a run's": OF_GAMES,
        "of WEIGHTS, or of a run's policy.npz, after --moves": OF_NETS,
    }
    lines = [f"{title}\n" + "\n".join(f"  {k:<12} {v}" for k, v in kinds.items()) for title, kinds in listed.items()]
    parser.add_argument("--kind", choices=KINDS, metavar="KIND", default=CURVE, help="\n".join(lines))
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="the picture: .png, .svg or .pdf (default: KIND.png, of a single run in its directory)",
    )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="also write every metric of every run as a table")
    parser.add_argument("--live", action="store_true", help="draw a run again whenever it has grown, until Ctrl-C")
    parser.add_argument("--moves", metavar="MOVES", default="", help="the position, such as h8h9i9 (default: empty)")
    parser.add_argument("--game", metavar="N", type=int, help="which game of the file (default: the first)")
    parser.add_argument("--net", metavar="WEIGHTS", type=Path, help="a network with values")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the games played on (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Draw, and say where the picture is."""
    output = args.output or (args.sources[0] if _is_one_run(args.sources) else Path()) / f"{args.kind}.png"
    of_runs = args.kind in (CURVE, COMPARE, *OF_RUNS)
    if not of_runs:
        for option in ("csv", "live"):
            if getattr(args, option):
                raise UserError(f"--{option} is for pictures of runs, not for --kind {args.kind}")
        save_figure(_of_games(args) if args.kind in OF_GAMES else _of_net(args), output)
        print(output)
        return EXIT_OK
    metrics = [path / "metrics.jsonl" for path in args.sources]
    if args.csv is not None and args.csv.exists() and any(args.csv.samefile(p) for p in metrics if p.exists()):
        raise UserError(f"--csv {args.csv}: that is what the runs are read from; name another file")
    while True:
        before = _sizes(metrics)
        try:
            _draw_runs(args, output)
        except NothingYet as young:
            if not args.live:
                raise
            print(f"waiting: {young}", flush=True)
        if not args.live:
            return EXIT_OK
        while _sizes(metrics) == before:
            time.sleep(POLL_SECONDS)


def _draw_runs(args: argparse.Namespace, output: Path) -> None:
    from matplotlib.figure import Figure

    kind = OF_RUNS.get(args.kind)
    if kind is not None and len(args.sources) > 1:
        raise UserError(f"--kind {args.kind} shows one run; {len(args.sources)} were named")
    rows = {path: checked_rows(path, kind.needs if kind else "evaluation") for path in args.sources}
    groups = group_by_config(args.sources)
    if args.kind == COMPARE:
        figure = _comparison(groups, rows)
    elif kind is None:
        figure = plots.curves(groups, rows)
    else:
        figure = Figure(figsize=kind.size, layout="constrained")
        kind.draw(figure, *rows.values())
    save_figure(figure, output)
    print(output, flush=True)
    if args.csv is not None:
        replace_file(args.csv, csv_text(rows).encode(errors="surrogateescape"))
        print(args.csv, flush=True)


def _comparison(groups: Sequence[Sequence[Path]], rows: Mapping[Path, Sequence[Row]]) -> Figure:
    from matplotlib.figure import Figure

    from experiments.pictures.seed_plots import COLUMNS, comparison_figure

    experiments = {experiment_name(group[0]): [reached(path, rows[path]) for path in group] for group in groups}
    if len(experiments) < len(groups):
        raise UserError("two of the experiments bear one name; name the run directories by what differs")
    figure = Figure(layout="constrained")
    axes = comparison_figure(figure, experiments)
    figure.set_size_inches(11, 0.5 + (0.75 + 0.3 * len(groups)) * -(-len(axes) // COLUMNS))
    return figure


def _of_games(args: argparse.Namespace) -> Figure:
    from matplotlib.figure import Figure

    from experiments.pictures.arena_plots import tournament_figure
    from experiments.pictures.game_plots import chances_along, first_move_map, length_histogram, value_curve

    files = [file for path in args.sources for file in (sorted(path.glob("games/*.txt")) if path.is_dir() else [path])]
    games = [game for file in files for game in read_games(file)]
    if not games:
        raise UserError(f"{args.sources[0]}: there are no games/*.txt in it yet")
    if args.kind == "ratings":
        return tournament_figure(standings_of(games))
    board = max(4.5, 0.42 * (games[0].width + 1.4))
    figure = Figure(figsize=(board, board + 0.4) if args.kind == "first-moves" else SIZE, layout="constrained")
    if args.kind == "lengths":
        length_histogram(figure.subplots(), games)
    elif args.kind == "first-moves":
        first_move_map(figure.subplots(), games)
    else:
        game = chosen_game(games, args.game, " ".join(map(str, args.sources)))
        net = None if args.net is None else _net(args.net)
        if net is not None and not net.HAS_VALUE:
            raise UserError(f"{args.net}: a {type(net).__name__} says which move to make, not how a side stands")
        value_curve(figure.subplots(), game, chances_along(game, np.random.default_rng(args.seed), net))
    return figure


def _of_net(args: argparse.Namespace) -> Figure:
    from matplotlib.figure import Figure

    from experiments.pictures import net_plots

    if len(args.sources) > 1:
        raise UserError(f"--kind {args.kind} shows one network; {len(args.sources)} were named")
    net = _net(args.sources[0])
    board = Board(net.height, net.width, usual_win_length(net.height, net.width))
    names = move_names(args.moves)
    if args.moves and not names:
        raise UserError(f"--moves {args.moves[:60]!r}: wanted moves such as h8h9i9")
    play_names(board, names, "--moves")
    width = max(4.5, 0.42 * (net.width + 1.4))
    sizes: dict[str, Any] = {"policy": (width, width + 0.4), "flow": SIZE}
    figure = Figure(figsize=sizes.get(args.kind), layout="constrained")
    if args.kind == "policy":
        net_plots.policy_map(figure.subplots(), net, board)
    elif args.kind == "flow":
        net_plots.gradient_flow(figure.subplots(), net, board)
    else:
        axes = (
            net_plots.filter_grid(figure, net)
            if args.kind == "filters"
            else net_plots.activation_maps(figure, net, board)
        )
        figure.set_size_inches(9, 0.8 + 1.05 * len(axes))
    return figure


def _net(path: Path) -> BoardNet:
    return load_net(path / "policy.npz" if path.is_dir() else path)


def _is_one_run(paths: Sequence[Path]) -> bool:
    return len(paths) == 1 and paths[0].is_dir()


def _sizes(paths: Sequence[Path]) -> list[int]:
    return [path.stat().st_size if path.exists() else 0 for path in paths]
