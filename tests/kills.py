"""A training run killed at random moments, resumed each time: it ends with the bytes of a run that was left alone.

    make kills                              200 of them
    python tests/kills.py --kills 10 --seed 3 --fleet processes:2
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from experiments.metrics import read_metrics  # noqa: E402

SETTINGS = (
    "name=tiny", "height=4", "width=4", "win_length=3", "filters=[2, 3]", "hidden=8", "games_per_update=32", "batch=64",
    "pool_every=128", "evaluation_games=2", "final_games=2", "evaluation_plies=2", "opening_plies=2",
    "checkpoint_every=32", "drills=64", "drills_per_update=16", "drill_batch=16", "puzzles=20", "shares=2",
)  # fmt: skip
TIMES = ("seconds", "games_per_second")  # all that differs between two runs
STRETCH = 2.0  # seconds of training, at most, between two kills
MOST_RESUMES = 10  # after the kills, until the run has come to its end


def start(run: Path, games: int, fleet: list[str]) -> subprocess.Popen[bytes]:
    """Begin the run, or continue it if it stands there."""
    words = ["--resume", str(run)]
    if not (run / "config.json").exists():
        settings = (*SETTINGS, f"games={games}", f"evaluate_every={games}")
        words = ["--run-dir", str(run), *(word for setting in settings for word in ("--set", setting))]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", "train", *words, *fleet],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def rows_of(run: Path) -> list[dict[str, object]]:
    """The metrics without what differs from run to run. Raises MetricsError for a torn row."""
    return [{key: row[key] for key in row if key not in TIMES} for row in read_metrics(run / "metrics.jsonl")]


def fault_after_kill(run: Path) -> str:
    """What is wrong with the metrics of a run just killed: a row that is none, is missing or stands there twice."""
    if not (run / "metrics.jsonl").exists():
        return ""
    updates = [row["update"] for row in rows_of(run)]
    return "" if updates == list(range(len(updates))) else f"rows of the updates {updates}"


def killed_run(run: Path, games: int, kills: int, chance: random.Random, fleet: list[str]) -> list[str]:
    """Kill a run so many times, then let it come to its end. Returns what went wrong."""
    wrong, done = [], 0
    startup = 3.0  # seconds from start to the first row, as last seen
    while done < kills:
        before = (run / "metrics.jsonl").stat().st_mtime_ns if (run / "metrics.jsonl").exists() else 0
        began, process = time.monotonic(), start(run, games, fleet)
        if chance.random() < 0.3:
            time.sleep(chance.random() * startup)  # perhaps before anything was written
        else:
            metrics = run / "metrics.jsonl"
            while process.poll() is None and (not metrics.exists() or metrics.stat().st_mtime_ns == before):
                time.sleep(0.002)
            startup = time.monotonic() - began
            time.sleep(chance.random() * STRETCH)
        ended = process.poll()
        process.send_signal(signal.SIGKILL)
        error = process.communicate()[1].decode()
        if ended == 0:
            wrong.append(f"the run came to its end after {done} kills: give it more games")
            break
        if ended is not None:
            wrong.append(f"after {done} kills it ended by itself with {ended}: {error.strip()[-500:]}")
            break
        done += 1
        if fault := fault_after_kill(run):
            wrong.append(f"after {done} kills: {fault}")
        if done % 10 == 0:
            print(f"{done} kills, {len(rows_of(run))} rows", flush=True)
    for _ in range(MOST_RESUMES):
        process = start(run, games, fleet)
        error = process.communicate()[1].decode()
        if process.returncode == 0:
            return wrong
        wrong.append(f"the last restart ended with {process.returncode}: {error.strip()[-500:]}")
    return wrong


def main() -> int:
    """Compare a killed run with one left alone; 0 if they are the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, help="of the run (default: 256 for each kill, and 320)")
    parser.add_argument("--fleet", help="who plays the games, see gomoku train --help")
    args = parser.parse_args()
    games = args.games or 256 * args.kills + 320
    fleet = ["--fleet", args.fleet] if args.fleet else []
    with tempfile.TemporaryDirectory() as name:
        whole, killed = Path(name) / "whole", Path(name) / "killed"
        if start(whole, games, []).wait():
            print("the run that is left alone does not come to its end")
            return 1
        wrong = killed_run(killed, games, args.kills, random.Random(args.seed), fleet)
        if rows_of(killed) != rows_of(whole):
            wrong.append("the metrics differ")
        for file in ("policy.npz", "result.json"):
            if (killed / file).read_bytes() != (whole / file).read_bytes():
                wrong.append(f"{file} differs")
        print("\n".join(wrong))
        print(f"{args.kills} kills, {len(rows_of(whole))} rows, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
