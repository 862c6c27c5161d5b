"""The rules panel in Jupyter: `show_rules("mine.json")` puts a switch and a slider a rule into a notebook.

A player named `alphabeta,rules=mine.json` plays by the change at its next move. Without ipywidgets it is a table.
"""

import html
import threading
from pathlib import Path
from typing import Any

from experiments.errors import UserError
from experiments.faces.rule_desk import RuleDesk, RuleMatch
from rl.search.account import EvaluationRule
from rl.search.rule_file import RuleFileError

WATCH_SECONDS = 0.5


class Table:
    """What a notebook shows of a desk where there is no ipywidgets."""

    def __init__(self, desk: RuleDesk) -> None:
        self.desk = desk

    def __repr__(self) -> str:
        rules = self.desk.rules.rules
        return "\n".join(f"{rule.id:<16} {rule.weight:.2f} {'' if rule.enabled else 'off'}".rstrip() for rule in rules)


def show_rules(path: str | Path) -> Any:
    """Return what Jupyter shows as a rules panel; the file is made from the default rules if there is none.

    Raises RuleFileError for a file that cannot be used, OSError.
    """
    desk = RuleDesk(Path(path))
    try:
        return RulesPanel(desk).box
    except ModuleNotFoundError as error:
        if error.name != "ipywidgets":
            raise
        return Table(desk)


class RulesPanel:
    """The widgets on a `RuleDesk`: `box` is what is shown."""

    def __init__(self, desk: RuleDesk) -> None:
        """Raises ModuleNotFoundError without ipywidgets."""
        import ipywidgets

        self.desk = desk
        self.running: RuleMatch | None = None
        self.message = ipywidgets.HTML("")  # a label would cut a long line off
        narrow = {"width": "auto", "align_self": "flex-start"}
        self.button = ipywidgets.Button(description="Match new against old", layout=narrow)
        self.button.on_click(lambda _: self.match())
        self.switches: dict[str, Any] = {}
        self.weights: dict[str, Any] = {}
        rows = []
        for rule in desk.rules.rules:
            self._add(ipywidgets, rule)
            rows.append(ipywidgets.HBox([self.switches[rule.id], self.weights[rule.id]]))
        self.box = ipywidgets.VBox([*rows, self.button, self.message])
        self.box.panel = self

    def _add(self, ipywidgets: Any, rule: EvaluationRule) -> None:
        switch = ipywidgets.Checkbox(rule.enabled, description=rule.name, indent=False, layout={"width": "430px"})
        weight = ipywidgets.FloatSlider(rule.weight, min=0, max=1, step=0.01, continuous_update=False)
        switch.observe(lambda change: self._change(rule.id, enabled=change["new"]), "value")
        weight.observe(lambda change: self._change(rule.id, weight=change["new"]), "value")
        self.switches[rule.id], self.weights[rule.id] = switch, weight

    def match(self) -> None:
        """Begin a match, or stop the one that is played."""
        if self.running is not None and not self.running.is_over:
            self.running.stop()
            return
        try:
            self.running = self.desk.match()
        except UserError as error:
            self._say(str(error))
            return
        self.button.description = "Stop the match"
        threading.Thread(target=self._watch, args=(self.running,), daemon=True).start()

    def _watch(self, match: RuleMatch) -> None:
        is_over = False
        while not is_over:
            match.join(WATCH_SECONDS)
            is_over = match.is_over  # before its last words are read
            self._say(match.text)
        self.button.description = "Match new against old"

    def _change(self, rule_id: str, *, weight: float | None = None, enabled: bool | None = None) -> None:
        try:
            if self.desk.change(rule_id, weight=weight, enabled=enabled):
                self._say(f"saved in {self.desk.path}")
        except RuleFileError as error:
            self._say(str(error))
        except OSError as error:
            self._say(f"{error.filename}: {error.strerror}")

    def _say(self, text: str) -> None:
        self.message.value = html.escape(text)
