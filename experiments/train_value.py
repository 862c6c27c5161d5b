"""`gomoku train-value`: a value network for a policy, from games that the policy plays.

Games first, then learning from their positions; a tenth of the games is kept apart and says what was learnt.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from tqdm import tqdm

from env.lockstep import Lockstep
from env.rules import Rule, check_settings
from experiments.errors import EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.files.output_place import check_place
from nn import BoardNet, ConvPolicyNet, ConvValueNet, LinePolicyNet, LineValueNet, load_net
from nn.losses import squared_error
from nn.optim import Adam
from rl.agents import PolicyAgent, make_agent
from rl.agents.base import BatchAgent
from rl.sampling import RandomSource, draw_numbers, draw_uniforms
from rl.selfplay import open_randomly
from rl.value_learning import Ends, begin_with, joined, learn, values_of, watch_games

AT_ONCE = 256
OPPONENTS = ("greedy", "shapes:attack", "shapes:forcing", "shapes:race")
VALIDATION = 10  # one game in so many
NEAR = (5, 10, 20, 40)  # plies to the end, by which the report is told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("policy", type=Path, metavar="POLICY.npz", help="who plays")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="VALUE.npz", help="where the network goes")
    parser.add_argument("--games", type=int, default=5_000, metavar="N", help="games to learn from (default: 5000)")
    parser.add_argument("--epochs", type=int, default=5, metavar="N", help="times through their positions (default: 5)")
    parser.add_argument("--temperature", type=float, default=0.5, metavar="T", help="of the policy (default: 0.5)")
    parser.add_argument(
        "--opponents", nargs="*", default=list(OPPONENTS), metavar="AGENT",
        help=f"who takes a seat in some games, for lopsided positions (default: {' '.join(OPPONENTS)})",
    )  # fmt: skip
    parser.add_argument("--opponent-share", type=float, default=0.3, metavar="P", help="chance of that (default: 0.3)")
    parser.add_argument(
        "--opening-plies", type=int, default=6, metavar="K", help="games open with 0 to K random stones (default: 6)"
    )
    parser.add_argument("--win-length", type=int, default=5, metavar="L", help="stones in a row that win (default: 5)")
    parser.add_argument("--position-share", type=float, default=0.4, metavar="P", help="of a game's (default: 0.4)")
    parser.add_argument("--discount", type=float, default=0.98, metavar="G", help="of the result a ply (default: 0.98)")
    parser.add_argument("--batch", type=int, default=128, metavar="N", help="positions in an update (default: 128)")
    parser.add_argument("--learning-rate", type=float, default=1e-3, metavar="R", help="Adam's, falling to 0 (0.001)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same network (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Play, learn, write, and say what was learnt. At Ctrl-C the network is written as it is."""
    check(args)
    policy = load_net(args.policy)
    check_board(policy, args)
    players = seated(policy, args)
    rng = np.random.default_rng(args.seed)
    net = value_net_for(policy, rng)
    taken = begin_with(net, policy)
    print(f"begins with the policy's {', '.join(taken) or 'nothing'}", flush=True)
    ends = play(players, policy, args, rng)
    apart = ends.games % VALIDATION == 0
    known, unknown = ends.some(~apart), ends.some(apart)
    if not len(known) or not len(unknown):
        raise UserError(f"{args.games} games gave too few quiet positions; ask for more games or a larger share")
    print(f"{len(known):,} positions to learn from, {len(unknown):,} of other games to judge by", flush=True)
    code = EXIT_OK
    try:
        teach(net, known, args, rng)
    except KeyboardInterrupt:
        print("stopped; what was learnt so far is written")
        code = EXIT_INTERRUPTED
    net.save(args.output)
    print(report(net, known, unknown, args.discount))
    print(f"value network   {args.output}")
    return code


def value_net_for(policy: BoardNet, rng: np.random.Generator) -> BoardNet:
    """A value network that can begin with what this policy has learnt."""
    board = policy.height, policy.width
    if isinstance(policy, LinePolicyNet):
        return LineValueNet(
            *board, reach=policy.reach, hidden=policy.hidden, features=policy.features, rng=rng
        )
    if isinstance(policy, ConvPolicyNet):
        return ConvValueNet(*board, kernels=policy.kernels, filters=policy.filters, rng=rng)
    return ConvValueNet(*board, rng=rng)


def check(args: argparse.Namespace) -> None:
    """Raise UserError for a setting that cannot be."""
    if min(args.games, args.epochs, args.batch) < 1 or min(args.seed, args.opening_plies) < 0:
        raise UserError("--games, --epochs and --batch are 1 or more, --seed and --opening-plies 0 or more")
    if not (0 <= args.opponent_share <= 1 and 0 < args.position_share <= 1 and 0 < args.discount <= 1):
        raise UserError("--opponent-share, --position-share and --discount are from 0 to 1, the last two more than 0")
    if not 0 < args.temperature < np.inf:
        raise UserError(f"--temperature {args.temperature}: it must be positive")
    if args.output.suffix != ".npz":
        raise UserError(f"{args.output}: a network is written as .npz")
    check_place(args.output)
    if not 0 < args.learning_rate <= 1:
        raise UserError(f"--learning-rate {args.learning_rate}: wanted more than 0, at most 1")


def check_board(policy: BoardNet, args: argparse.Namespace) -> None:
    """Raise UserError for games that the policy's board does not hold."""
    try:
        check_settings(policy.height, policy.width, args.win_length, Rule.FREESTYLE)
    except ValueError as error:
        raise UserError(str(error)) from None
    if args.opening_plies > policy.height * policy.width // 2:
        board = f"{policy.height}x{policy.width}"
        raise UserError(f"--opening-plies {args.opening_plies}: at most half of the {board} board")


def seated(policy: BoardNet, args: argparse.Namespace) -> list[BatchAgent]:
    """The policy, then the opponents."""
    players: list[BatchAgent] = [PolicyAgent(policy, args.temperature)]
    if not policy.HAS_POLICY:
        raise UserError(f"{args.policy} holds a {type(policy).__name__}, which knows no moves; a policy is wanted")
    for name in args.opponents:
        agent = make_agent(name)
        if not isinstance(agent, BatchAgent):
            raise UserError(f"--opponents {name}: it cannot play many games at once; take another")
        players.append(agent)
    return players


def play(players: list[BatchAgent], policy: BoardNet, args: argparse.Namespace, rng: RandomSource) -> Ends:
    """The quiet positions of all games."""
    parts = []
    with tqdm(total=args.games, unit="game", desc="games", disable=None) as bar:
        for first in range(0, args.games, AT_ONCE):
            count = min(AT_ONCE, args.games - first)
            games = Lockstep(count, policy.height, policy.width, args.win_length)
            open_randomly(games, draw_numbers(rng, count, args.opening_plies + 1), rng)
            seats = np.zeros((count, 2), dtype=np.int64)
            if len(players) > 1:
                mixed = np.flatnonzero(draw_uniforms(rng, count) < args.opponent_share)
                colour = draw_numbers(rng, len(mixed), 2)
                seats[mixed, colour] = 1 + draw_numbers(rng, len(mixed), len(players) - 1)
            parts.append(watch_games(seats, players, games, share=args.position_share, rng=rng))
            bar.update(count)
    return joined(parts)


def teach(net: BoardNet, ends: Ends, args: argparse.Namespace, rng: np.random.Generator) -> None:
    """All epochs, the learning rate falling along half a cosine."""
    targets = ends.targets(args.discount)
    optimizer = Adam(net.parameters(), args.learning_rate)
    updates = args.epochs * -(-len(ends) // args.batch)
    done, mean = 0, 0.0
    with tqdm(total=updates, unit="update", desc="learning", disable=None) as bar:
        for _ in range(args.epochs):
            order = rng.permutation(len(ends))
            for first in range(0, len(ends), args.batch):
                which = order[first : first + args.batch]
                optimizer.learning_rate = args.learning_rate * (1 + np.cos(np.pi * done / updates)) / 2
                loss = learn(net, optimizer, ends.planes[which], targets[which], rng)
                done += 1
                mean += (loss - mean) / min(done, 100)
                bar.set_postfix_str(f"loss {mean:.3f}", refresh=False)
                bar.update()


def report(net: BoardNet, known: Ends, unknown: Ends, discount: float) -> str:
    """What the net knows of games it has not learnt from."""
    values, targets = values_of(net, unknown.planes), unknown.targets(discount)
    loss = squared_error(values, targets)[0]
    constant = squared_error(np.full(len(unknown), known.targets(discount).mean()), targets)[0]
    lines = [f"games not learnt from: loss {loss:.3f}; of always saying the mean {constant:.3f}"]
    right, decided = np.sign(values) == unknown.results, unknown.results != 0
    for low, high in zip((0, *NEAR), (*NEAR, np.inf), strict=True):
        some = decided & (unknown.left > low) & (unknown.left <= high)
        if some.any():
            name = f"{low + 1} to {high}" if high < np.inf else f"more than {low}"
            lines.append(f"  {name:>13} plies to the end   winner told in {right[some].mean():6.1%} of {some.sum():,}")
    return "\n".join(lines)
