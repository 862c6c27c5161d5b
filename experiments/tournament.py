"""`gomoku tournament`: everybody against everybody over colour-swapped pairs; Elo ratings with 95 % intervals.

    runs/tournament__s1__20261129T201500Z/
        config.json   what was asked for                  games.txt      every game, one line each, replayable
        pairs.jsonl   the games of each batch of pairs,   results.json   ratings, results by colour, the first move
                      written as soon as it is finished   ratings.png    the same as a picture

A tournament killed at any moment goes on with --resume: what is in pairs.jsonl is not played again, and the end is the
same as if it had never stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

from tqdm import tqdm

from env.record import GameRecord, RecordError
from experiments.errors import EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.metrics import MetricsLog, read_metrics
from experiments.run_dir import RunDir, add_run_dir_arguments, new_run_path
from experiments.strength import pairing
from experiments.strength.standings import Standings, sprt_line, sprt_verdict, standings_of, table
from experiments.strength.tournament_plan import DEFAULT_GAMES, Plan, config_from_arguments, plan_from
from nn.weights import replace_file
from rl.pairs import Games, play_batches


class TournamentDir(RunDir):
    """The directory of a tournament: a run's, with other files in it."""

    def _make_folders(self) -> None:
        pass

    @property
    def pairs(self) -> Path:
        """The log of what has been played."""
        return self.path / "pairs.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("agents", metavar="AGENT", nargs="*", help="the players, named as for gomoku evaluate")
    parser.add_argument("--games", type=int, metavar="N", help=f"of each two players (default: {DEFAULT_GAMES})")
    parser.add_argument("--anchor", metavar="AGENT", help="the player whose rating is 0 (default: the mean is 0)")
    parser.add_argument(
        "--sprt",
        metavar="ELO0:ELO1",
        help="of two players: stop once it is clear whether the first is ELO0 (H0) or ELO1 (H1) points stronger, at "
        "the latest after --games",
    )
    parser.add_argument("--alpha", type=float, metavar="P", help="how often H1 is accepted wrongly (default: 0.05)")
    parser.add_argument("--beta", type=float, metavar="P", help="how often H0 is accepted wrongly (default: 0.05)")
    pairing.add_arguments(parser)
    parser.set_defaults(seed=None)  # so that --resume can tell whether it was named
    add_run_dir_arguments(parser, "go on with a tournament; only --jobs goes with it")


def run(args: argparse.Namespace) -> int:
    """Play what is not yet played, then say who is how strong."""
    pairing.check_arguments(args)
    with open_tournament(args) as (directory, plan):
        finished = read_pairs(directory.pairs, plan)
        directory.accept()
        print(f"tournament directory: {directory.path}\n{plan.describe()}", flush=True)
        complete = play(plan, finished, directory, args.jobs)
        games = plan.by_match(finished)
        verdict = None
        if plan.sprt is not None:
            verdict = sprt_verdict(plan.sprt, first := _first_pairs(plan, finished))
            games = {0: first[: 2 * verdict["pairs"]]}
        records = [record for match in sorted(games) for record in games[match]]
        standings = standings_of(records, plan.players, plan.anchor)
        print(f"\n{table(standings)}")
        if verdict is not None:
            print(sprt_line(verdict))
        pairing.note_forfeits(records)
        if not complete:
            print(f"\nstopped early; go on with: gomoku tournament --resume {directory.path}")
            return EXIT_INTERRUPTED
        write_results(directory, standings, records, verdict)
    return EXIT_OK


def play(plan: Plan, finished: dict[int, Games], directory: TournamentDir, jobs: int) -> bool:
    """Play the slots that are missing from `finished`, adding each to it and to the log. False if Ctrl-C came."""
    total = 2 * sum(slot.pairs for slot in plan.slots)
    already = sum(map(len, finished.values()))
    work = pairing.batches(plan.slots, plan.players, plan.opening, plan.seed)
    missing = ((number, batch) for number, batch in work if number not in finished)
    if already == total or decided(plan, finished):
        return True
    try:
        with (
            MetricsLog(directory.pairs, rows=len(finished)) as log,
            pairing.open_fleet(plan.setting, jobs) as fleet,
            tqdm(total=total, initial=already, unit="game", smoothing=0.05, disable=None) as bar,
        ):
            for number, games in play_batches(fleet, missing, ahead=2 * jobs):
                slot = plan.slots[number]
                lines = [record.to_line() for record in games]
                log.append({"match": slot.match, "first": slot.first, "games": lines})
                finished[number] = games
                bar.update(len(games))
                if decided(plan, finished):
                    break
    except KeyboardInterrupt:
        return False
    return True


def decided(plan: Plan, finished: Mapping[int, Games]) -> bool:
    """Whether a sequential test has ended."""
    return plan.sprt is not None and sprt_verdict(plan.sprt, _first_pairs(plan, finished))["accepted"] is not None


def _first_pairs(plan: Plan, finished: Mapping[int, Games]) -> list[GameRecord]:
    """The games of a single match up to the first pair that is missing."""
    games: list[GameRecord] = []
    for number in range(len(plan.slots)):
        if number not in finished:
            break
        games.extend(finished[number])
    return games


def write_results(
    directory: TournamentDir, standings: Standings, records: Sequence[GameRecord], verdict: Mapping[str, Any] | None
) -> None:
    """Write the games, the results and their picture, and say where they are."""
    from experiments.pictures.arena_plots import tournament_figure
    from experiments.pictures.figures import save_figure

    results = {**standings.as_dict(), "forfeits": sum(bool(record.note) for record in records), "sprt": verdict}
    replace_file(directory.path / "games.txt", "".join(f"{record.to_line()}\n" for record in records).encode())
    replace_file(directory.path / "results.json", (json.dumps(results, indent=2) + "\n").encode())
    save_figure(tournament_figure(standings), directory.path / "ratings.png")
    print(f"\ngames     {directory.path / 'games.txt'}")
    print(f"results   {directory.path / 'results.json'}\npicture   {directory.path / 'ratings.png'}")


def read_pairs(path: Path, plan: Plan) -> dict[int, Games]:
    """What has been played: the games of each slot, by its number. A line torn by a kill is left out.

    Raises `UserError`, naming file and line, for what does not belong to this tournament.
    """
    slots = {f"{slot.match}:{slot.first}": number for number, slot in enumerate(plan.slots)}
    names = list(combinations(plan.players, 2))
    finished: dict[int, Games] = {}
    for line, row in enumerate(read_metrics(path) if path.exists() else [], start=1):
        number = slots.get(f"{row.get('match')}:{row.get('first')}")
        lines = row.get("games")
        if number is None or number in finished or not isinstance(lines, list):
            raise UserError(f"{path}, line {line}: not a batch of this tournament, or there twice")
        slot = plan.slots[number]
        try:
            games = tuple(GameRecord.from_line(str(text)) for text in lines)
        except RecordError as error:
            raise UserError(f"{path}, line {line}: {error}") from None
        players = [(record.black, record.white) for record in games]
        if players != [names[slot.match], names[slot.match][::-1]] * slot.pairs:
            raise UserError(f"{path}, line {line}: not the players or the number of games of this batch")
        finished[number] = games
    return finished


@contextmanager
def open_tournament(args: argparse.Namespace) -> Iterator[tuple[TournamentDir, Plan]]:
    """The directory to work in, new or resumed, and what is to be played.

    Raises `UserError` for a request that makes no tournament, or a directory that holds none.
    """
    if args.resume is not None:
        given = {name for name, value in vars(args).items() if value not in (None, [], False)}
        if extra := sorted(given - {"command", "resume", "jobs"}):
            raise UserError(f"--resume goes on as it was begun; nothing but --jobs goes with it, and not {extra[0]}")
        with TournamentDir.open(args.resume, sys.argv[1:]) as directory:
            yield directory, plan_from(directory.config(), f"{args.resume / 'config.json'}")
        return
    config = config_from_arguments(args)
    plan = plan_from(config, "the command line")
    path = args.run_dir or new_run_path("tournament", config["seed"])
    with TournamentDir.create(path, config, sys.argv[1:]) as directory:
        yield directory, plan
