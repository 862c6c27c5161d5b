"""The window of `gomoku gui`: a board, what can be done, how the game goes. A thin view of `GameSession`.

Agents think in threads, which only answer questions; everything else, the session included, is touched by the one
thread that runs the window: it fetches the answers many times a second.
"""

import queue
import threading
import tkinter as tk
from collections.abc import Callable
from pathlib import Path
from tkinter import filedialog, ttk

from env import BLACK, EMPTY, WHITE, Board, IllegalMoveError, Rule
from env.render import COLOUR_NAMES
from env.rules import SettingsError
from experiments.errors import UserError
from experiments.faces.board_canvas import BoardCanvas
from experiments.faces.captions import headline, search_text
from experiments.faces.curve_canvas import CurveCanvas
from experiments.faces.rule_desk import rules_player
from experiments.faces.rules_window import RulesWindow
from experiments.playing.player import HUMAN
from experiments.playing.question import Answer, Kind, Question
from experiments.playing.session import GameSession, SessionError
from rl.agents import AgentSpecError
from rl.agents.outside import EngineError
from rl.search.rule_file import RuleFileError

FETCH_MS = 30
SIZES = (9, 11, 13, 15, 17, 19)
SIDES = {"black": (BLACK,), "white": (WHITE,), "both (two people)": (BLACK, WHITE), "neither (watch)": ()}
OPPONENTS = ("alphabeta", "alphabeta:time=0.3", "threat", "summed", "greedy:sharp", "greedy", "random")
NO_NETWORK = "no network plays that could say how likely it finds each move"
MISTAKES = (SessionError, IllegalMoveError, UserError, SettingsError, AgentSpecError, EngineError, RuleFileError)
GAME_FILES = [("games", "*.sgf *.psq *.txt"), ("all files", "*")]


class Window:
    """The window on a session. `rules` is a file for the rules panel, if one has been named."""

    def __init__(self, root: tk.Tk, session: GameSession, rules: Path | None = None) -> None:
        self.root, self.session, self.rules = root, session, rules
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._mistake = ""  # what could not be done, until the next attempt
        self._lacking = ""  # what cannot be shown
        self._looking = False  # whether an outlook is being worked out
        self._closed = False
        self.interrupted = False  # set from outside, such as a signal handler: the window closes itself soon
        self.panels: dict[Path, RulesWindow] = {}  # kept when closed: a Tk variable must not die in another thread
        game = session.game
        specs = [player.spec for player in game.players.values() if player.spec != HUMAN]
        self.side = tk.StringVar(root, next(name for name, own in SIDES.items() if list(own) == game.people))
        self.opponent = tk.StringVar(root, specs[0] if specs else OPPONENTS[0])
        self.rule = tk.StringVar(root, game.board.rule.value)
        self.size = tk.StringVar(root, str(game.board.width))
        self.heat, self.curve = tk.BooleanVar(root, False), tk.BooleanVar(root, True)
        self.status, self.message, self.search = tk.StringVar(root), tk.StringVar(root), tk.StringVar(root)
        self._start = {name: variable.get() for name, variable in self._choices().items()}
        root.title("Gomoku")
        root.minsize(700, 540)
        if ttk.Style(root).theme_use() == "default":  # on X11, where there is no native look
            ttk.Style(root).theme_use("clam")
        self._build_panel()  # first: in a narrow window it is the board that gives way
        self.board = BoardCanvas(root, self.click, self.can_play)
        self.board.pack(side="left", fill="both", expand=True)
        for canvas in (self.board, self.curve_canvas):
            canvas.bind("<Configure>", lambda _: self.show())
        root.protocol("WM_DELETE_WINDOW", self.close)
        session.listen(self.show)
        self._timer = root.after(FETCH_MS, self._fetch)

    def _choices(self) -> dict[str, tk.StringVar]:
        return {"side": self.side, "opponent": self.opponent, "rule": self.rule, "size": self.size}

    def _build_panel(self) -> None:
        panel = ttk.Frame(self.root, padding=12)
        panel.pack(side="right", fill="y")
        bold = ("Helvetica", -15, "bold")
        ttk.Label(panel, textvariable=self.status, font=bold, wraplength=280).pack(anchor="w", fill="x")
        ttk.Label(panel, textvariable=self.message, foreground="#a01818", wraplength=280).pack(
            anchor="w", fill="x", pady=(2, 8)
        )
        rows = ttk.Frame(panel)
        rows.pack(fill="x")
        rows.columnconfigure(1, weight=1)
        lines = (
            ("You play", self.side, list(SIDES), "readonly", self.seat),
            ("Against", self.opponent, list(OPPONENTS), "normal", self.seat),
            ("Rule", self.rule, [rule.value for rule in Rule], "readonly", self.new),
            ("Size", self.size, [str(size) for size in SIZES], "readonly", self.new),
        )
        for row, (name, variable, values, state, command) in enumerate(lines):
            ttk.Label(rows, text=name).grid(row=row, column=0, sticky="w", padx=(0, 8), pady=2)
            box = ttk.Combobox(rows, textvariable=variable, values=values, state=state, width=22)
            box.grid(row=row, column=1, sticky="ew", pady=2)
            for event in ("<<ComboboxSelected>>", "<Return>"):
                box.bind(event, lambda _, command=command: command())
        buttons = ttk.Frame(panel)
        buttons.pack(fill="x", pady=8)
        self.buttons: dict[str, Callable[[], None]] = {
            "New game": self.new,
            "Reset": self.reset,
            "Undo": lambda: self._try(session.undo),
            "Hint": self.hint,
            "Resign": lambda: self._try(session.resign),
            "Network ...": self.choose_network,
            "Open ...": self.open,
            "Save ...": self.save,
            "Rules ...": self.show_rules,
        }
        session = self.session
        for number, (name, command) in enumerate(self.buttons.items()):
            button = ttk.Button(buttons, text=name, command=command)
            button.grid(row=number // 3, column=number % 3, sticky="ew", padx=1, pady=1)
            buttons.columnconfigure(number % 3, weight=1)
        switches = (("how likely the network finds each move, %", self.heat), ("how the game goes", self.curve))
        for name, choice in switches:
            ttk.Checkbutton(panel, text=name, variable=choice, command=self.show).pack(anchor="w")
        foot = ttk.Frame(panel)
        foot.pack(fill="both", pady=(6, 0))
        foot.rowconfigure(0, weight=1)  # in a low window it is the curve that gives way
        foot.columnconfigure(0, weight=1)
        self.curve_canvas = CurveCanvas(foot)
        self.curve_canvas.grid(sticky="nsew")
        ttk.Label(foot, textvariable=self.search, wraplength=280).grid(sticky="ew", pady=(8, 0))

    # What a person does.

    def can_play(self, cell: int) -> bool:
        """Whether a person's stone could be put there now."""
        game = self.session.game
        return not game.is_over and game.player.mind is None and bool(game.board.cells.flat[cell] == EMPTY)

    def click(self, cell: int) -> None:
        """Put a stone there, if a person is to move; a click on a stone, or out of turn, means nothing."""
        if self.can_play(cell):
            self._try(lambda: self.session.play(cell))

    def new(self) -> None:
        """Begin a new game on the board that is chosen."""
        size, now = int(self.size.get()), self.session.game.board
        wanted = Rule(self.rule.get())
        length = 5 if wanted is Rule.RENJU else min(now.win_length, size)
        self._try(lambda: self.session.new(Board(size, size, length, wanted), **self._seats()))

    def reset(self) -> None:
        """Begin anew with what was chosen when the window opened."""
        for name, variable in self._choices().items():
            variable.set(self._start[name])
        self.new()

    def seat(self) -> None:
        """Have those play on who are chosen now."""
        for colour, spec in zip((BLACK, WHITE), self._seats().values(), strict=True):
            if self.session.game.players[colour].spec != spec:
                self._try(lambda colour=colour, spec=spec: self.session.set_player(colour, spec))  # type: ignore[misc]

    def _seats(self) -> dict[str, str]:
        own, other = SIDES[self.side.get()], self.opponent.get().strip()
        return {COLOUR_NAMES[colour]: HUMAN if colour in own else other for colour in (BLACK, WHITE)}

    def hint(self) -> None:
        """Ask what to play; the answer is ringed in blue."""
        self._try(lambda: self._answer(self.session.ask_hint()))

    def choose_network(self) -> None:
        """Choose a weights file: its network plays."""
        path = filedialog.askopenfilename(
            parent=self.root, title="A network", filetypes=[("networks", "*.npz"), ("all files", "*")]
        )
        if path:
            self.opponent.set(f"policy:{path}")
            self.seat()

    def open(self) -> None:
        """Go on with a game from a file."""
        path = filedialog.askopenfilename(parent=self.root, title="Open a game", filetypes=GAME_FILES)
        if path:
            self._try(lambda: self.session.load(Path(path)))

    def save(self) -> None:
        """Write the game to a file."""
        path = filedialog.asksaveasfilename(
            parent=self.root, title="Save the game", defaultextension=".sgf", filetypes=GAME_FILES
        )
        if path:
            self._try(lambda: self.session.save(Path(path)))

    def show_rules(self) -> None:
        """Open the rules panel, on the file that the opponent plays by, or on one that is chosen now."""
        self._try(self._open_rules)

    def _open_rules(self) -> None:
        spec = self.opponent.get().strip()
        path, spec_by_rules = rules_player(spec, self.rules)
        if path is None:
            name = filedialog.asksaveasfilename(
                parent=self.root, title="A file for the rules", defaultextension=".json", confirmoverwrite=False
            )
            if not name:
                return
            path, spec_by_rules = rules_player(spec, Path(name))
            assert path is not None
        if path not in self.panels:
            self.panels[path] = RulesWindow(self.root, path, self.session.abandon)
        self.panels[path].deiconify()
        self.rules = path
        self.opponent.set(spec_by_rules)
        self.seat()

    def close(self) -> None:
        """Close the window, whatever is being thought about."""
        self._closed = True
        self.root.after_cancel(self._timer)
        self.session.abandon()
        for panel in self.panels.values():
            panel.close()
        self.root.destroy()

    # How it is shown, and how the answers come.

    def show(self) -> None:
        """Draw everything as it is now, and have whoever is to move think."""
        if self._closed:
            return
        game = self.session.game
        self.rule.set(game.board.rule.value)
        self.size.set(str(game.board.width))
        if game.is_over or game.player.mind is None:
            self.board.configure(cursor="" if game.is_over else "hand2")
        else:
            self.board.configure(cursor="watch")
        chances = self.session.chances if self.heat.get() else None
        self.board.show(game, chances, self.session.hint_cell)
        self.status.set(headline(self.session))
        self._lacking = NO_NETWORK if self.heat.get() and chances is None and not game.is_over else ""
        self._show_messages()
        if self.curve.get():
            self.curve_canvas.show(self.session.outlook, len(game.board.moves))
            self._look()
        else:
            self.curve_canvas.delete("all")
        question = self.session.question()
        if question is not None:
            self._answer(question)

    def _look(self) -> None:
        """Have the outlook of this position worked out, one at a time."""
        known = [ply for ply, _ in self.session.outlook]
        if not self._looking and len(self.session.game.board.moves) not in known:
            self._looking = True
            self._answer(self.session.ask_outlook())

    def _answer(self, question: Question) -> None:
        threading.Thread(target=lambda: self._answers.put(question.answer()), daemon=True).start()

    def _fetch(self) -> None:
        """Take the answers that have come, and close if that was asked for from outside."""
        if self.interrupted:
            self.close()
            return
        self._timer = self.root.after(FETCH_MS, self._fetch)
        self.search.set(search_text(self.session.thought))
        while not self._answers.empty():
            answer = self._answers.get()
            if answer.question.kind is Kind.OUTLOOK:
                self._looking = False
            if not self.session.accept(answer) and answer.error is None and self.curve.get():
                self._look()

    def _try(self, action: Callable[[], object]) -> None:
        """Do something; what cannot be done is said in the panel."""
        self._mistake = ""
        try:
            action()
        except MISTAKES as error:
            self._mistake = str(error)
        except OSError as error:
            self._mistake = f"{error.filename}: {error.strerror}"
        self._show_messages()

    def _show_messages(self) -> None:
        self.message.set("\n".join(line for line in (self.session.note, self._lacking, self._mistake) if line))
