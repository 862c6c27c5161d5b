"""`gomoku train-q`: Q-learning on a small board, one game after the other, each move learnt from as it is played.

The table, the number of games and the curve go into one .npz, the picture of the curve beside it; a table that is
there already is learnt on. The curve is measured without exploring.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from env import BLACK, Board, Rule
from experiments.errors import EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.files.output_place import check_place
from nn import load_net
from nn.weights import load_arrays, save_arrays
from rl.agents import RandomAgent, make_agent
from rl.agents.base import Agent
from rl.agents.qlearning import QLearningAgent
from rl.arena import Tally, compare
from rl.q_table import QTable, Rewards
from rl.sampling import RandomSource

Curve = list[dict[str, float]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("table", type=Path, metavar="FILE.npz", help="the table: learnt on if it is there, else made")
    parser.add_argument("--games", type=int, default=10_000, metavar="N", help="games to learn from (default: 10000)")
    parser.add_argument("--against", default="self", metavar="AGENT", help="who sits opposite (default: self)")
    parser.add_argument("--size", type=int, default=4, metavar="S", help="a square board (default: 4)")
    parser.add_argument("--win-length", type=int, default=3, metavar="L", help="stones in a row that win (default: 3)")
    parser.add_argument("--rule", choices=[rule.value for rule in Rule], default="freestyle")
    parser.add_argument("--epsilon", type=float, default=0.1, metavar="P", help="chance of any move (default: 0.1)")
    parser.add_argument("--learning-rate", type=float, default=0.1, metavar="R", help="(default: 0.1)")
    parser.add_argument("--discount", type=float, default=0.9, metavar="G", help="of the next value (default: 0.9)")
    for field in fields(Rewards):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=float, default=field.default, metavar="R", help=f"reward ({field.default:+g})")
    parser.add_argument("--net", type=Path, metavar="FILE", help="add a policy network's log p to Q when choosing")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same games (default: 1)")
    parser.add_argument("--every", type=int, metavar="N", help="measure every N games (default: 20 times in all)")
    parser.add_argument("--evaluation-games", type=int, default=200, metavar="N", help="against random (default: 200)")


def run(args: argparse.Namespace) -> int:
    """Learn, measure, write; what is learnt is kept at every measurement and at Ctrl-C."""
    if args.games < 1 or (args.every is not None and args.every < 1) or args.seed < 0:
        raise UserError("--games and --every are 1 or more, --seed 0 or more")
    if args.evaluation_games < 2 or args.evaluation_games % 2:
        raise UserError(f"--evaluation-games {args.evaluation_games}: games come in pairs; use an even number")
    if not 0 <= args.epsilon <= 1:
        raise UserError(f"--epsilon {args.epsilon}: a chance is from 0 to 1")
    if args.table.suffix != ".npz":
        raise UserError(f"{args.table}: a table is written as .npz")
    check_place(args.table)
    table, games, curve = table_of(args)
    agent = QLearningAgent(table, None if args.net is None else load_net(args.net), args.epsilon)
    opponent = agent if args.against == "self" else make_agent(args.against)
    rng = np.random.default_rng([args.seed, games])
    every = args.every or max(1, args.games // 20)
    if not curve:
        curve.append(measured(table, agent, games, args))
    try:
        for played in tqdm(range(1, args.games + 1), unit="game", disable=None):
            seats = (agent, opponent) if played % 2 else (opponent, agent)
            play(table, seats, rng)
            games += 1
            if played % every == 0 or played == args.games:
                curve.append(measured(table, agent, games, args))
                save(args.table, table, games, curve)
    except KeyboardInterrupt:
        save(args.table, table, games, curve)
        print(f"stopped; {args.table} holds {games:,} games")
        return EXIT_INTERRUPTED
    last = curve[-1]
    rate, low, high = (last[key] for key in ("win_rate", "low", "high"))
    print(f"{args.table}: {games:,} games, {len(table.known):,} positions learnt")
    print(f"without exploring it wins {rate:.1%} ({low:.1%} to {high:.1%}) of {args.evaluation_games} against random")
    return EXIT_OK


def table_of(args: argparse.Namespace) -> tuple[QTable, int, Curve]:
    """(the table to learn on, the games it has seen, its curve): what the file holds, or a new one."""
    try:
        board = Board(args.size, args.size, args.win_length, Rule(args.rule))
        rewards = Rewards(**{field.name: getattr(args, field.name) for field in fields(Rewards)})
        table = QTable(board, learning_rate=args.learning_rate, discount=args.discount, rewards=rewards)
    except ValueError as error:
        raise UserError(str(error)) from None
    if not args.table.exists():
        return table, 0, []
    arrays, meta = load_arrays(args.table)
    old = QTable.from_arrays(arrays, meta, args.table)
    wanted, found = table.meta(), old.meta()
    different = [key for key in wanted if wanted[key] != found[key]]
    if different:
        said = ", ".join(f"{key} {found[key]}" for key in different)
        raise UserError(f"{args.table} has {said}; ask for the same, or name another file")
    return old, _count(meta, args.table), meta["curve"]


def _count(meta: Mapping[str, Any], path: Path) -> int:
    """The games in a file's meta, which must have a curve of numbers too."""
    games, curve = meta.get("games"), meta.get("curve")
    keys = {"games", "win_rate", "low", "high"}
    whole = isinstance(curve, list) and all(isinstance(point, dict) and set(point) == keys for point in curve)
    if type(games) is not int or games < 0 or not whole:
        raise UserError(f"{path}: wanted a number of games and a curve; the table was written by something else")
    return games


def play(table: QTable, seats: tuple[Agent, Agent], rng: RandomSource) -> None:
    """One game, black first; the table learns from every move, whoever played it."""
    board = Board(table.height, table.width, table.win_length, table.rule)
    while not board.is_over:
        board.play(seats[board.to_move != BLACK].choose(board, rng))
        table.learn(board)


def measured(table: QTable, agent: QLearningAgent, games: int, args: argparse.Namespace) -> dict[str, float]:
    """A point of the curve: the win rate against random, without exploring, from games of their own."""
    player = QLearningAgent(table, agent.net)

    def new_board() -> Board:
        return Board(table.height, table.width, table.win_length, table.rule)

    rng = np.random.default_rng([args.seed, games, 1])
    played = args.evaluation_games
    # From the empty board: random's stones make the games differ.
    result = compare(player, RandomAgent(), played, new_board=new_board, opening_plies=0, rng=rng)
    tally: Tally = result.total
    low, high = tally.interval
    return {"games": games, "win_rate": tally.win_rate, "low": low, "high": high}


def save(path: Path, table: QTable, games: int, curve: Curve) -> None:
    """Write the table, then the picture of its curve."""
    from matplotlib.figure import Figure

    from experiments.pictures.figures import BLUE, save_figure

    save_arrays(path, table.arrays(), {**table.meta(), "games": games, "curve": curve})
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    ax = figure.subplots()
    x, rate, low, high = ([point[key] for point in curve] for key in ("games", "win_rate", "low", "high"))
    ax.plot(x, rate, color=BLUE, marker="o", markersize=3)
    ax.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0, label="95 % interval")
    ax.set(xlabel="games learnt from", ylabel="win rate against random", ylim=(0, 1.02))
    ax.set_title(f"Q-learning, {table.height}x{table.width}, {table.win_length} in a row")
    ax.legend(loc="lower right", frameon=False)
    save_figure(figure, path.with_suffix(".png"))
