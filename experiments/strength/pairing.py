"""Who meets whom, on which board and from which opening: what `gomoku evaluate` and `gomoku tournament` share.

Chance is handed out by number: an opening by its pair, the moves by the batch of pairs. So a result depends neither on
how many processes play nor on which of them is done first.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from env import Board, Rule
from env.record import GameRecord
from env.record_text import MAX_BYTES, decode, printable
from experiments.config import config_from
from experiments.errors import UserError
from experiments.run_dir import read_json
from rl.agents import Agent, PolicyAgent
from rl.arena import random_opening
from rl.fleet import MOST_JOBS, Fleet, InProcess, Processes
from rl.middle import middle_cells
from rl.openings import OpeningError, balanced_opening, opening_of_pair, parse_opening, turns
from rl.pairs import Games, PairBatch, Setting, pairs_at_once, prepare

DEFAULT_SIZE = 15
DEFAULT_PLIES = 4
BUNDLED = {path.stem: path for path in (Path(__file__).parents[1] / "openings").glob("*.txt")}
GAME = ("height", "width", "win_length", "rule")  # the settings that say what is played
NETWORKS = ("policy", "mcts")  # agents whose argument is the file of a network
OPENING, MOVES = 0, 1  # what a seed is spent on

Opening = tuple[int, ...]


class Slot(NamedTuple):
    """So many pairs of a match from its pair `first` on, which are played as one batch."""

    match: int
    first: int
    pairs: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments about the board, the openings, chance and processes."""
    parser.add_argument(
        "--openings",
        type=Path,
        metavar="FILE",
        help="openings, one a line, such as h8i9g7; once all have been played, turned and mirrored; or one of the sets "
        f"that come along: {', '.join(sorted(BUNDLED))}",
    )
    plies = f"or: random stones a game starts from (default: {DEFAULT_PLIES})"
    parser.add_argument("--opening-plies", type=int, metavar="K", help=plies)
    parser.add_argument(
        "--size", type=int, metavar="S", help="a square board (default: a network's own size, else 15)"
    )
    parser.add_argument("--height", type=int, metavar="H", help="with --width: a board that is not square")
    parser.add_argument("--width", type=int, metavar="W")
    parser.add_argument(
        "--win-length", type=int, metavar="L", help="stones in a row that win (default: as a network's run, else 5)"
    )
    parser.add_argument(
        "--rule", choices=[rule.value for rule in Rule], help="default: as a network's run, else freestyle"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same games (default: 1)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="play on N processes; the games are the same, unless an agent goes by the clock (then name at most as "
        "many as there are idle cores)",
    )


def check_arguments(args: argparse.Namespace) -> None:
    """Raise `UserError` for numbers out of range."""
    if args.seed is not None and args.seed < 0:
        raise UserError(f"--seed {args.seed}: a seed is 0 or larger")
    if not 1 <= args.jobs <= MOST_JOBS:
        raise UserError(f"--jobs {args.jobs}: name a number of processes from 1 to {MOST_JOBS}")
    if args.openings is not None and args.opening_plies is not None:
        raise UserError("--openings names the openings and --opening-plies makes some up; name one of them")


def setting_for(args: argparse.Namespace, specs: Sequence[str], agents: Sequence[Agent]) -> Setting:
    """The game these agents are to play: as asked for, else as the networks among them know it.

    Raises `UserError` if the request contradicts itself or the networks.
    """
    height, width = board_size(args, agents)
    win_length, rule = game(args, specs)
    try:
        Board(height, width, win_length, rule)
    except ValueError as error:  # the message names the size or win length that is out of range
        raise UserError(str(error)) from None
    return Setting(height, width, win_length, rule)


def board_size(args: argparse.Namespace, agents: Sequence[Agent]) -> tuple[int, int]:
    """Return (height, width): what was asked for, else the size a network among the agents was made for, else 15x15.

    Raises `UserError` if the request contradicts itself or the networks.
    """
    if args.size is not None and (args.height is not None or args.width is not None):
        raise UserError("--size says height and width at once; name either --size or --height and --width")
    if (args.height is None) != (args.width is None):
        raise UserError("--height and --width go together; for a square board name --size")
    nets = {agent.name: getattr(agent, "net", None) for agent in agents}
    own = {name: (net.height, net.width) for name, net in nets.items() if net is not None}
    if args.size is not None:
        asked = (args.size, args.size)
    elif args.height is not None:
        asked = (args.height, args.width)
    else:
        asked = next(iter(own.values()), (DEFAULT_SIZE, DEFAULT_SIZE))
    movable = {agent.name for agent in agents if isinstance(agent, PolicyAgent) and agent.net.fits(*asked)}
    for name, size in own.items():
        if size != asked and name not in movable:
            raise UserError(f"{name} plays on {size[0]}x{size[1]} only; the board is {asked[0]}x{asked[1]}")
    return asked


def game(args: argparse.Namespace, specs: Sequence[str]) -> tuple[int, Rule]:
    """Return (win length, rule): what was asked for, else those of the run a network lies in, else 5 and freestyle."""
    win_length, rule = args.win_length, args.rule
    for spec in specs:
        name, _, rest = spec.partition(":")
        config = Path(rest.partition(",")[0]).parent / "config.json"
        if name in NETWORKS and config.is_file() and (win_length is None or rule is None):
            settings = read_json(config)  # of a run of train or pretrain, which have the game in common
            trained = config_from({key: settings[key] for key in GAME if key in settings})
            win_length = trained.win_length if win_length is None else win_length
            rule = rule or trained.rule
    return 5 if win_length is None else win_length, Rule(rule or "freestyle")


def read_openings(path: Path, empty: Board) -> list[Opening]:
    """The openings in a file, one a line; blank lines and those that begin with # are passed over.

    A path at which nothing stands may be the name of a set that comes along.
    Raises `UserError`, naming file and line, for a line that is no opening of this game or stands there twice.
    """
    path = path if path.exists() else BUNDLED.get(str(path), path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    found: dict[Opening, int] = {}
    for number, line in enumerate(decode(data).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            opening = parse_opening(line, empty)
        except OpeningError as error:
            raise UserError(f"{path}:{number}: {error}") from None
        if opening in found:
            raise UserError(f"{path}:{number}: the same opening as in line {found[opening]}")
        found[opening] = number
    if not found:
        raise UserError(f"{path}: there is no opening in it")
    return list(found)


def opening_by_pair(
    setting: Setting, pairs: int, given: Sequence[Opening], plies: int, seed: int, *, balanced: bool
) -> Callable[[int], Opening]:
    """The opening of each pair by its number: one of the given, or if there are none a random one of so many plies.

    A note on stderr says if there are too few of the given ones for all to differ. Raises `UserError` if so many
    random stones leave no game to play, ArenaError if no such opening is found.
    """
    if given:
        different = len(given) * len(turns(setting.height, setting.width))
        if pairs > different:
            note = f"{len(given)} openings, turned and mirrored, make {different} pairs; then they repeat"
            print(f"gomoku: note: {note}", file=sys.stderr)
        return lambda pair: opening_of_pair(given, pair, setting.height, setting.width)
    room = int(middle_cells(setting.height, setting.width).sum())
    if not 0 <= plies < room:
        raise UserError(
            f"--opening-plies {plies}: on a {setting.height}x{setting.width} board name a number from 0 to {room - 1}"
        )
    make = balanced_opening if balanced else random_opening

    @cache
    def opening(pair: int) -> Opening:
        return tuple(make(setting.board, plies, generator(seed, OPENING, pair)).moves)

    opening(0)  # if there is none, now is the time to say so
    return opening


def plies_of(args: argparse.Namespace) -> int:
    """How many random stones a game starts from."""
    return DEFAULT_PLIES if args.opening_plies is None else int(args.opening_plies)


def describe(setting: Setting, openings: object, plies: int, seed: int) -> str:
    """The game, where the openings come from and the seed, in words."""
    board = f"{setting.height}x{setting.width}, {setting.win_length} in a row, {setting.rule.value}"
    start = f"openings of {openings}" if openings else f"{plies} random opening plies"
    return f"{board}, {start}, seed {seed}"


def schedule(agents: Sequence[Agent], pairs: int) -> list[Slot]:
    """All batches of a round robin, in the order in which they begin: every match's first pairs, then the next."""
    slots = [
        Slot(match, first, min(at_once, pairs - first))
        for match, two in enumerate(combinations(agents, 2))
        for at_once in [pairs_at_once(two)]
        for first in range(0, pairs, at_once)
    ]
    return sorted(slots, key=lambda slot: (slot.first, slot.match))


def batches(
    slots: Sequence[Slot], players: Sequence[str], opening: Callable[[int], Opening], seed: int
) -> Iterator[tuple[int, PairBatch]]:
    """The work of each slot, numbered as the slots are."""
    matches = list(combinations(players, 2))
    for number, slot in enumerate(slots):
        chosen = tuple(opening(pair) for pair in range(slot.first, slot.first + slot.pairs))
        yield number, PairBatch(matches[slot.match], chosen, generator(seed, MOVES, slot.match, slot.first))


def generator(seed: int, *key: int) -> np.random.Generator:
    """The generator with this number under a seed: NumPy's way to have independent ones."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def open_fleet(setting: Setting, jobs: int) -> Fleet[Setting, PairBatch, Games]:
    """A fleet ready for batches: this process, or so many others."""
    fleet: Fleet[Setting, PairBatch, Games] = InProcess(prepare) if jobs == 1 else Processes(prepare, jobs)
    fleet.put(setting)
    return fleet


def note_forfeits(records: Sequence[GameRecord]) -> None:
    """Say on stderr if games were lost by a fault of an agent."""
    notes = [record.note for record in records if record.note]
    if notes:
        games = "1 game was" if len(notes) == 1 else f"{len(notes)} games were"
        print(f"gomoku: note: {games} forfeited; the first: {printable(notes[0])}", file=sys.stderr)
