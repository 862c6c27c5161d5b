"""A training run of a second or two, for tests of what may happen to it."""

from pathlib import Path

from experiments.metrics import Row, read_metrics

SETTINGS = (
    "name=tiny", "height=4", "width=4", "win_length=3", "filters=[2, 3]", "hidden=8", "games=96", "games_per_update=32",
    "batch=64", "pool_every=32", "evaluate_every=64", "evaluation_games=2", "final_games=2", "evaluation_plies=2",
    "opening_plies=2", "checkpoint_every=32", "puzzles=20", 'evaluate_against=["random"]',
)  # fmt: skip
LEFT = ("policy.npz", "result.json", "games/random.txt")


def begin(*more: str) -> list[str]:
    """The command line of such a run, three updates long, up to its directory; `more` are settings as in --set."""
    return ["train", *(word for setting in (*SETTINGS, *more) for word in ("--set", setting)), "--run-dir"]


def without_times(run: Path) -> list[Row]:
    """Its metrics less what differs between two runs of one seed."""
    rows = read_metrics(run / "metrics.jsonl")
    for row in rows[1:]:
        del row["seconds"], row["games_per_second"]
    return rows


def outcome(run: Path) -> tuple[list[Row], list[bytes]]:
    """All that must be alike in two runs of one seed, one of which something happened to."""
    return without_times(run), [(run / name).read_bytes() for name in LEFT]
