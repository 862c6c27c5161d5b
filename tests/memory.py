"""A long training run whose memory is looked at every few seconds: how fast it grows, if it does, and what it writes.

    make memory                                  an hour
    python tests/memory.py --minutes 15 --set games_per_update=256

The slope is fitted to the means of ten stretches of time after the first quarter, in which the pool of past selves and
everything that is kept fill up; its 95 % interval is that of a straight line through ten points.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ("games=1000000000", "drills=0", "pool_every=512", "evaluate_every=16384")  # the pool is soon full
STRETCHES = 10
T_95 = 2.306  # Student's t for 8 degrees of freedom
MOST = 0.05  # of the memory, an hour: more than that, and not by chance, is a fault


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0  # it has just ended


def written(run: Path) -> dict[str, int]:
    """Bytes in metrics.jsonl, in checkpoints, in all other files, and how many checkpoints there are."""
    sizes = {path: path.stat().st_size for path in run.rglob("*") if path.is_file()}
    checkpoints = [size for path, size in sizes.items() if path.parent.name == "checkpoints"]
    metrics = sizes.get(run / "metrics.jsonl", 0)
    other = sum(sizes.values()) - metrics - sum(checkpoints)
    return {"metrics": metrics, "checkpoints": sum(checkpoints), "other": other, "count": len(checkpoints)}


def slope(times: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The slope of a straight line through the means of ten stretches, and half its 95 % interval."""
    t, y = (np.array([part.mean() for part in np.array_split(of, STRETCHES)]) for of in (times, values))
    t = t - t.mean()
    line = float((t * y).sum() / (t * t).sum())
    rest = y - y.mean() - line * t
    return line, T_95 * float(np.sqrt((rest**2).sum() / (STRETCHES - 2) / (t * t).sum()))


def main() -> int:
    """Run, look, and say; 1 if memory grows or files do."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=2, help="seconds between two looks")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run = Path(name) / "run"
        words = ["train", "--preset", args.preset, "--run-dir", str(run)]
        words += [word for setting in (*SETTINGS, *args.set) for word in ("--set", setting)]
        process = subprocess.Popen(
            [sys.executable, "-m", "experiments", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        try:
            looks, files, began = [], {}, time.monotonic()
            while time.monotonic() - began < 60 * args.minutes and process.poll() is None:
                time.sleep(args.every)
                looks.append((time.monotonic() - began, resident(process.pid)))
                if looks[-1][0] > 30 * args.minutes and not files:
                    files = written(run)
            rows = (run / "metrics.jsonl").read_bytes().count(b"\n")
            after = written(run)
        finally:
            process.send_signal(signal.SIGKILL)
            ended = process.wait()
    if ended != -signal.SIGKILL:
        print(f"the run ended by itself, exit code {ended}")
        return 1
    times, sizes = np.array(looks[len(looks) // 4 :]).T
    line, half = slope(times / 3600, sizes / 2**20)
    mean = sizes.mean() / 2**20
    print(f"{args.minutes:.0f} minutes, {rows} rows of metrics, {len(looks)} looks; load {os.getloadavg()[2]:.1f}")
    print(f"memory: {mean:.1f} MB, {sizes.min() / 2**20:.1f} to {sizes.max() / 2**20:.1f} after the first quarter")
    print(f"slope: {line:+.2f} MB an hour, 95 % interval {line - half:+.2f} to {line + half:+.2f}")
    print(f"files: {after['count']} checkpoints of {after['checkpoints'] / 1e6:.2f} MB in all, at half time "
          f"{files['checkpoints'] / 1e6:.2f}; {after['metrics'] / max(1, rows):.0f} bytes a row of metrics; others "
          f"{after['other'] / 1e3:.1f} kB, at half time {files['other'] / 1e3:.1f}")  # fmt: skip
    wrong = []
    if line - half > MOST * mean:
        wrong.append("memory grows")
    if after["count"] > 4 or after["checkpoints"] > 1.5 * files["checkpoints"]:  # 4: one is just being written
        wrong.append("checkpoints grow")
    if after["other"] > 2 * files["other"]:
        wrong.append("other files grow")
    print(", ".join(wrong) or "memory is flat and files are bounded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
