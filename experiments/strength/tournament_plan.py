"""A tournament laid out: who, on which board, from which openings, in which batches; and the values it is made of.

The values go into config.json. From them, and nothing else, the same plan is made again when a tournament is resumed.
"""

import argparse
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from env import Rule
from env.coords import cell_name
from env.record import GameRecord
from experiments.errors import UserError, did_you_mean
from experiments.strength import pairing
from experiments.strength.pairing import Opening, Slot
from rl.openings import OpeningError, parse_opening
from rl.pairs import Games, Setting, present
from rl.sprt import Sprt

DEFAULT_GAMES = 100
MOST_GAMES = 100_000  # of two players
MOST_PLAYERS = 64
KEYS = {
    "players": list, "games": int, "height": int, "width": int, "win_length": int, "rule": str, "openings": list,
    "openings_from": str, "opening_plies": int, "seed": int, "anchor": str, "sprt": list, "files": dict,
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """A whole tournament.

    games: of each two players; opening: of a pair by its number, the same for every match; slots: the batches, in the
    order in which they begin; anchor: the player whose rating is 0, or None.
    """

    players: tuple[str, ...]
    games: int
    setting: Setting
    opening: Callable[[int], Opening]
    slots: tuple[Slot, ...]
    seed: int
    anchor: int | None
    sprt: Sprt | None
    conditions: str

    def describe(self) -> str:
        """All of it in one line."""
        most = "at most " if self.sprt else ""
        return f"{len(self.players)} players, {most}{self.games:,} games of each two, {self.conditions}"

    def by_match(self, finished: Mapping[int, Games]) -> dict[int, list[GameRecord]]:
        """The games of each match in the order of the pairs; finished: games by the number of their slot."""
        found: dict[int, list[GameRecord]] = {}
        for number in sorted(finished):
            found.setdefault(self.slots[number].match, []).extend(finished[number])
        return found


def config_from_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What was asked for, in plain values, with what is left open filled in.

    Raises `UserError`, AgentSpecError or WeightsError for players or a board that make no tournament.
    """
    players = list(args.agents)
    with present(players) as agents:
        setting = pairing.setting_for(args, players, agents)
    given = pairing.read_openings(args.openings, setting.board()) if args.openings else []
    sprt: list[float] = []
    if args.sprt is not None:
        try:
            sprt = [float(word) for word in args.sprt.split(":")]
            assert len(sprt) == 2
        except (ValueError, AssertionError):
            raise UserError(f"--sprt {args.sprt}: write two numbers of Elo points, such as 0:50") from None
        sprt += [0.05 if rate is None else rate for rate in (args.alpha, args.beta)]
    elif args.alpha is not None or args.beta is not None:
        raise UserError("--alpha and --beta are the error rates of --sprt")
    return {
        "players": players,
        "games": DEFAULT_GAMES if args.games is None else args.games,
        "height": setting.height,
        "width": setting.width,
        "win_length": setting.win_length,
        "rule": setting.rule.value,
        "openings": ["".join(cell_name(c, setting.height, setting.width) for c in opening) for opening in given],
        "openings_from": str(args.openings or ""),
        "opening_plies": pairing.plies_of(args),
        "seed": 1 if args.seed is None else args.seed,
        "anchor": args.anchor or "",
        "sprt": sprt,
        "files": _fingerprints(players),
    }


def plan_from(config: Mapping[str, Any], where: str) -> Plan:
    """The plan that these values describe; `where` they stand is named in what is raised.

    Raises `UserError` if they make no tournament, or a file that a player is made from is no longer the same.
    """
    for key, kind in KEYS.items():
        if not isinstance(config.get(key), kind) or isinstance(config[key], bool):
            raise UserError(f"{where}: {key} is {config.get(key)!r}; a tournament has a {kind.__name__} there")
    players, games = tuple(map(str, config["players"])), config["games"]
    _check_players(players, config["anchor"])
    if not 2 <= games <= MOST_GAMES or games % 2:
        raise UserError(f"--games {games}: games come in pairs; name an even number from 2 to {MOST_GAMES:,}")
    for key in ("seed", "opening_plies"):
        if config[key] < 0:
            raise UserError(f"{where}: {key} is {config[key]}; 0 is the least")
    if config["sprt"] and len(players) != 2:
        raise UserError(f"--sprt compares two players; {len(players)} were named")
    if changed := [path for path, seal in _fingerprints(players).items() if config["files"].get(path) != seal]:
        raise UserError(f"{changed[0]} has changed since the tournament began; start a new one")
    with present(players) as agents:
        slots = pairing.schedule(agents, games // 2)
    try:
        rule = Rule(config["rule"])
        setting = Setting(config["height"], config["width"], config["win_length"], rule)
        setting.board()  # or there is no such board, and nothing of its size is made
        given = [parse_opening(str(text), setting.board()) for text in config["openings"]]
        sprt = Sprt(*map(float, config["sprt"])) if config["sprt"] else None
    except (OpeningError, ValueError, TypeError, OverflowError) as error:
        raise UserError(f"{where}: {error}") from None
    plies, seed = config["opening_plies"], config["seed"]
    return Plan(
        players=players,
        games=games,
        setting=setting,
        opening=pairing.opening_by_pair(setting, games // 2, given, plies, seed, balanced=True),
        slots=tuple(slots),
        seed=seed,
        anchor=players.index(config["anchor"]) if config["anchor"] else None,
        sprt=sprt,
        conditions=pairing.describe(setting, config["openings_from"], plies, seed),
    )


def _check_players(players: Sequence[str], anchor: str) -> None:
    if not 2 <= len(players) <= MOST_PLAYERS:
        raise UserError(f"{len(players)} players: name from 2 to {MOST_PLAYERS} agents")
    if twice := [name for i, name in enumerate(players) if name in players[:i]]:
        raise UserError(f"{twice[0]} was named twice; every player needs a name of its own")
    if anchor and anchor not in players:
        raise UserError(f"--anchor {anchor}: no such player; {did_you_mean(anchor, players)}")


def _fingerprints(players: Sequence[str]) -> dict[str, str]:
    """The SHA-256 of every file that a player is made from, NAME:FILE or NAME,key=FILE, by its path."""
    words = [word for name in players for word in name.partition(":")[2].split(",")]
    words += [word.partition("=")[2] for name in players for word in name.split(",")[1:]]
    return {
        word: hashlib.sha256(Path(word).read_bytes()).hexdigest() for word in words if word and Path(word).is_file()
    }
