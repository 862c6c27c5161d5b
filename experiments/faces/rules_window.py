"""The rules panel of the window: a switch and a slider for each evaluation rule, and a match of new against old."""

import tkinter as tk
from collections.abc import Callable
from pathlib import Path
from tkinter import ttk

from experiments.errors import UserError
from experiments.faces.rule_desk import RuleDesk, RuleMatch
from rl.search.account import EvaluationRule
from rl.search.rule_file import RuleFileError

STEPS = 100  # of a slider
SETTLE_MS = 150  # a slider that moves is not written at every step
WATCH_MS = 200


class RulesWindow(tk.Toplevel):
    """A window on a `RuleDesk`; calls `on_change` when the rules in the file are others now."""

    def __init__(self, master: tk.Misc, path: Path, on_change: Callable[[], None]) -> None:
        """Raises RuleFileError, OSError; then there is no window."""
        self.desk = RuleDesk(path)
        super().__init__(master)
        self._on_change = on_change
        self._match: RuleMatch | None = None
        self._pending: dict[str, str] = {}  # rule -> the timer of its slider
        self.weights: dict[str, tk.DoubleVar] = {}
        self.switches: dict[str, tk.BooleanVar] = {}
        self.message = tk.StringVar(self)
        self.title(f"Evaluation rules: {path.name}")
        self.protocol("WM_DELETE_WINDOW", self.close)
        body = ttk.Frame(self, padding=12)
        body.pack(fill="both", expand=True)
        body.columnconfigure(1, weight=1)
        for row, rule in enumerate(self.desk.rules.rules):
            self._add_row(body, row, rule)
        last = len(self.desk.rules.rules)
        self.button = ttk.Button(body, text="Match new against old", command=self.match)
        self.button.grid(row=last, column=0, sticky="w", pady=(12, 4))
        said = ttk.Label(body, textvariable=self.message, wraplength=520)
        said.grid(row=last + 1, column=0, columnspan=3, sticky="w")

    def _add_row(self, body: ttk.Frame, row: int, rule: EvaluationRule) -> None:
        switch = self.switches[rule.id] = tk.BooleanVar(self, rule.enabled)
        weight = self.weights[rule.id] = tk.DoubleVar(self, rule.weight)
        shown = tk.StringVar(self, f"{rule.weight:.2f}")
        ttk.Checkbutton(body, text=rule.name, variable=switch, command=lambda: self._switched(rule.id)).grid(
            row=row, column=0, sticky="w"
        )

        def moved(_: str) -> None:
            shown.set(f"{weight.get():.2f}")
            if rule.id in self._pending:
                self.after_cancel(self._pending[rule.id])
            self._pending[rule.id] = self.after(SETTLE_MS, lambda: self._settled(rule.id))

        ttk.Scale(body, from_=0, to=1, variable=weight, command=moved, length=200).grid(
            row=row, column=1, sticky="ew", padx=8, pady=3
        )
        ttk.Label(body, textvariable=shown, width=5).grid(row=row, column=2)

    def match(self) -> None:
        """Begin a match, or stop the one that is played."""
        if self._match is not None and not self._match.is_over:
            self._match.stop()
            self.button.configure(text="Match new against old")
            return
        try:
            self._match = self.desk.match()
        except UserError as error:
            self.message.set(str(error))
            return
        self.button.configure(text="Stop the match")
        self._watch()

    def close(self) -> None:
        """Put the window away; a slider that has just been moved still counts, a match is stopped."""
        for rule_id in list(self._pending):
            self._settled(rule_id)
        if self._match is not None:
            self._match.stop()
        self.withdraw()

    def _watch(self) -> None:
        assert self._match is not None
        is_over = self._match.is_over  # before its last words are read
        self.message.set(self._match.text)
        if is_over:
            self.button.configure(text="Match new against old")
        else:
            self.after(WATCH_MS, self._watch)

    def _switched(self, rule_id: str) -> None:
        self._change(rule_id, enabled=self.switches[rule_id].get())

    def _settled(self, rule_id: str) -> None:
        self._pending.pop(rule_id, None)
        self._change(rule_id, weight=round(self.weights[rule_id].get() * STEPS) / STEPS)

    def _change(self, rule_id: str, *, weight: float | None = None, enabled: bool | None = None) -> None:
        try:
            if self.desk.change(rule_id, weight=weight, enabled=enabled):
                self.message.set(f"saved in {self.desk.path}")
                self._on_change()
        except RuleFileError as error:
            self.message.set(str(error))
        except OSError as error:
            self.message.set(f"{error.filename}: {error.strerror}")
