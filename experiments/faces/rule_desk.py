"""Evaluation rules being edited: every change is in the file at once, where a player that runs reads it; and the match
of the rules as they are now against those the editing began with. Windows and notebooks show it.
"""

import json
import math
import threading
from dataclasses import asdict, replace
from pathlib import Path

from experiments.errors import UserError
from experiments.strength.rule_trials import Rival, play_match, verdict
from nn.weights import replace_file
from rl.search.account import EvaluationRule, EvaluationRules
from rl.search.rule_file import default_rules, load_rules

PLAYER = "alphabeta"
GAMES, NODES, PLIES = 20, 200, 4  # a short match: some minutes on one core


def rules_text(rules: EvaluationRules) -> str:
    """Return rules as the JSON text that `load_rules` reads."""
    lines = ",\n".join(f"    {json.dumps(asdict(rule), ensure_ascii=False)}" for rule in rules.rules)
    return f'{{\n  "rules": [\n{lines}\n  ],\n  "decay": {json.dumps(asdict(rules.decay))}\n}}\n'


def rules_player(spec: str, path: Path | None) -> tuple[Path | None, str]:
    """Return the file of rules that the agent `spec` plays by, and the spec; if it has none, those with `path`.

    An agent without rules gives its place to the alpha-beta player. Raises `UserError` for a path that no spec can
    name.
    """
    head, *options = spec.split(",")
    for option in (head.removeprefix(f"{PLAYER}:"), *options):
        if head.partition(":")[0] == PLAYER and option.startswith("rules="):
            return Path(option.removeprefix("rules=")), spec
    if path is None:
        return None, spec
    if "," in str(path):
        raise UserError(f"{path}: a player names its rules after a comma; choose a path without one")
    return path, f"{spec if head.partition(':')[0] == PLAYER else PLAYER},rules={path}"


class RuleDesk:
    """The rules in the file `path`, which begins as a copy of the default ones if there is none.

    rules  as they are now, in the file too
    old    as they were when this desk was opened: the other side of a match

    Raises RuleFileError for a file that cannot be used, OSError if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            replace_file(path, rules_text(default_rules()).encode())
        self.rules = self.old = load_rules(path)

    def rule(self, rule_id: str) -> EvaluationRule:
        """Return one rule as it is now."""
        return next(rule for rule in self.rules.rules if rule.id == rule_id)

    def change(self, rule_id: str, *, weight: float | None = None, enabled: bool | None = None) -> bool:
        """Give a rule another weight, 0 to 1, or switch it on or off, and write the file; False if nothing changes.

        Whatever else somebody has written into the file meanwhile is kept. Raises `UserError` for a weight out of
        range, RuleFileError for a file that has been spoilt, OSError; then nothing has changed.
        """
        if weight is not None and not (math.isfinite(weight) and 0 <= weight <= 1):
            raise UserError(f"{rule_id}: weight {weight:g}; use a number from 0 to 1")
        now = load_rules(self.path)

        def changed(rule: EvaluationRule) -> EvaluationRule:
            if rule.id != rule_id:
                return rule
            return replace(
                rule,
                weight=rule.weight if weight is None else weight,
                enabled=rule.enabled if enabled is None else enabled,
            )

        rules = replace(now, rules=tuple(map(changed, now.rules)))
        if rules != now:
            replace_file(self.path, rules_text(rules).encode())
        different, self.rules = rules != self.rules, rules
        return different

    def match(self, games: int = GAMES, nodes: int = NODES, seed: int = 1) -> "RuleMatch":
        """Begin a match of the rules now against the old ones. Raises `UserError` if they are the same."""
        if self.rules == self.old:
            raise UserError("the rules are those the editing began with; change one first")
        return RuleMatch(Rival(self.old, self.rules, nodes), games, seed)


class RuleMatch:
    """A match that is played in a thread; look at `text` while it goes on and after, from any thread."""

    def __init__(self, rival: Rival, games: int, seed: int) -> None:
        self.text = f"0 of {games} games"
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._play, args=(rival, games, seed), daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be played."""
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Play no further pair; the one that is being played is thrown away."""
        self._stopped.set()

    def join(self, seconds: float) -> None:
        """Wait for the end, at most so long."""
        self._thread.join(seconds)

    def _play(self, rival: Rival, games: int, seed: int) -> None:
        try:
            for result in play_match(rival, games, PLIES, seed):
                if self._stopped.is_set():
                    return
                total = result.total
                score = f"{total.wins} won, {total.draws} drawn, {total.losses} lost"
                self.text = f"{total.games} of {games} games: {score}; {verdict(total)}"
        except Exception as error:  # nobody else would hear of it
            self.text = f"the match broke off: {str(error) or type(error).__name__}"
