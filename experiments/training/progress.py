"""How far a training run is, for whoever waits: a bar on a terminal, a line every few seconds elsewhere.

Drills, games and epochs of imitation take different times; they are counted here by the time they take.
"""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

from experiments.metrics import Row
from experiments.training.learner import Learner

LOG_SECONDS = 5.0
DRILLS_IN_A_GAME = 6  # about how many drills take the time of one whole game, for the time left
GAMES_IN_AN_EPOCH = 4_000  # and how many games that of an epoch of imitation


class Progress:
    """A bar with the time left on a terminal, a line every few seconds elsewhere."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._drills, self._games = learner.config.drills, learner.config.games
        self._total = self._work(self._games, learner.config.imitation_epochs)
        self._first = self._done()
        self._bar = tqdm(
            total=self._total,
            initial=self._first,
            smoothing=0.05,
            disable=None,
            bar_format="{percentage:3.0f}%|{bar}| {elapsed} gone, {remaining} left{postfix}",
        )
        self._began = self._shown = time.monotonic()

    def _work(self, games: int, epochs: int) -> int:
        """So many games, the first of them drills, in units of a drill, after so many epochs of imitation."""
        drills = min(games, self._drills) + DRILLS_IN_A_GAME * max(0, games - self._drills)
        return drills + DRILLS_IN_A_GAME * GAMES_IN_AN_EPOCH * epochs

    def _done(self) -> int:
        """The work that is done."""
        learner = self._learner
        epochs = learner.config.imitation_epochs if learner.pupil is None else learner.pupil.epochs
        return self._work(learner.games, epochs)

    def show(self, row: Row) -> None:
        """Show what this row says."""
        work, now = self._done(), time.monotonic()
        if "imitation" in row:
            text = f"imitation: {row['imitation']['accuracy']:.0%} as the teacher"
        elif "entropy" in row:
            text = f"entropy {row['entropy']:.2f}  length {row['game_length']:.1f}"
        else:
            text = f"entropy {row['drill']['entropy']:.2f}  drills {row['drill']['result']:+.2f}"
        if "evaluation" in row:
            rates = {k: v["win_rate"] for k, v in row["evaluation"].items() if "win_rate" in v}
            text += "".join(f"  {name} {rate:.0%}" for name, rate in rates.items())
        self._bar.set_postfix_str(f"{row['games']:,} games  {text}", refresh=False)
        self._bar.update(work - self._bar.n)
        if self._bar.disable and (now - self._shown > LOG_SECONDS or "evaluation" in row):
            self._shown = now
            left = (now - self._began) * (self._total - work) / max(1, work - self._first)
            print(
                f"{row['games']:>9,} of {self._games + self._learner.imitated:,} games  "
                f"{row['games_per_second']:.0f} a second  {left:.0f} s left  {text}",
                file=sys.stderr,
                flush=True,
            )

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.close()
