"""Games between people and agents, without a window: all that a face can do with them.

A face calls the methods, and shows the game anew whenever its listener is called. It asks for the next `question`, has
it answered (in a thread, if it wants to stay alive), and hands the answer to `accept`, which drops it if the game has
moved on. Every method may be called from any thread.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from env import BLACK, WHITE, Board
from experiments.files.game_files import read_games, write_games
from experiments.playing.game import Game
from experiments.playing.outlook import black_chance, move_chances
from experiments.playing.player import ADVISER, DEFAULT_AGENT, HUMAN, Player, seat, stand_in
from experiments.playing.question import Answer, Kind, Question
from experiments.playing.thought import Mind, Thought
from nn import BoardNet


class SessionError(ValueError):
    """What was asked for cannot be done in this state of the game."""


class GameSession:
    """One game after another.

    game       the one that is played; look at it, but play through the session
    hint_cell  the adviser's move for this position, once it has been asked for and answered
    thought    what an agent thinks, or has thought about last: its position, and what it has found in it
    """

    game: Game

    def __init__(
        self,
        board: Board | None = None,
        black: str = HUMAN,
        white: str = DEFAULT_AGENT,
        *,
        seed: int = 1,
        adviser: str = ADVISER,
    ) -> None:
        """Begin a game on a copy of `board`, whose stones are its opening, or on an empty 15x15 one.

        Raises AgentSpecError or EngineError if a spec names nobody.
        """
        self.hint_cell: int | None = None
        self._seed, self._adviser_spec = seed, adviser
        self._games = 0
        self._adviser: Player | None = None
        self._open: list[Question] = []
        self.thought: Thought | None = None
        self._outlook: dict[int, float] = {}
        self._changed = False
        self._listeners: list[Callable[[], None]] = []
        self._lock, self._net_lock = Lock(), Lock()
        self._begin(Board() if board is None else board.copy(), {BLACK: black, WHITE: white})

    def listen(self, listener: Callable[[], None]) -> None:
        """Have `listener` called after every change, by the thread that made it."""
        self._listeners.append(listener)

    @property
    def note(self) -> str:
        """What a face should tell: who plays instead of somebody else, and why; a line each."""
        players = (*self.game.players.values(), self._adviser)
        return "\n".join(dict.fromkeys(player.note for player in players if player is not None and player.note))

    @property
    def chances(self) -> NDArray[np.float64] | None:
        """How likely a player's network finds each move here, (A,); None without a network, or when it is over."""
        with self._lock:
            game, board = self.game, self.game.board.copy()
            nets = (game.players[colour].net for colour in (board.to_move, -board.to_move))
            net = None if game.is_over else next((net for net in nets if net is not None and net.HAS_POLICY), None)
        with self._net_lock:
            return None if net is None else move_chances(board, net)

    @property
    def outlook(self) -> list[tuple[int, float]]:
        """After how many moves black's chance was what, as far as it has been worked out."""
        with self._lock:
            return sorted(self._outlook.items())

    # What a person does.

    def play(self, cell: int) -> None:
        """Put the stone of the person on turn. Raises IllegalMoveError, SessionError; then nothing has changed."""
        with self._locked():
            if self.game.is_over:
                raise SessionError(f"the game is over: {self.game.status}")
            if self.game.player.mind is not None:
                raise SessionError(f"it is not your turn: {self.game.status}")
            self.game.board.play(cell)
            self._move_on()

    def undo(self) -> int:
        """Take moves back until a person's last one is off the board, and return how many.

        Between two people, or two agents, that is one; the opening stays. Who has resigned plays on, which takes
        nothing back. Raises SessionError if there is nothing to undo.
        """
        with self._locked():
            board, last = self.game.board, self.game.last_ply_by_people()
            if self.game.resigned:
                last = len(board.moves)
            elif last is None:
                raise SessionError("there is no move of yours to take back")
            count = len(board.moves) - last
            for _ in range(count):
                board.undo()
            self.game.resigned = 0
            self._outlook = {ply: chance for ply, chance in self._outlook.items() if ply <= last}
            self.thought = None
            self._move_on()
            return count

    def resign(self) -> None:
        """Give the game up for the person on turn, or else for the other. Raises SessionError."""
        with self._locked():
            people, to_move = self.game.people, self.game.board.to_move
            if self.game.is_over or not people:
                raise SessionError(f"there is nothing to resign: {self.game.status}")
            self.game.resigned = to_move if to_move in people else people[0]
            self._move_on()

    def new(self, board: Board | None = None, *, black: str | None = None, white: str | None = None) -> None:
        """Begin a new game, on a copy of `board` or on an empty one as before; players who are not named stay.

        Raises AgentSpecError, EngineError.
        """
        with self._locked():
            was = self.game.board
            board = Board(was.height, was.width, was.win_length, was.rule) if board is None else board.copy()
            self._begin(board, {colour: spec for colour, spec in ((BLACK, black), (WHITE, white)) if spec is not None})

    def set_player(self, colour: int, spec: str) -> None:
        """Have another play on with the stones of `colour`. Raises AgentSpecError, EngineError."""
        with self._locked():
            self.game.players[colour] = seat(spec, self.game.board)
            self._move_on()

    def save(self, path: Path) -> None:
        """Write the game so far, as .sgf, .psq or .txt. Raises UserError, OSError."""
        write_games(path, [self.game.record()])

    def load(self, path: Path) -> None:
        """Go on with the first game of a file: its board and rule, the players of now. Raises UserError."""
        record = read_games(path)[0]
        with self._locked():
            self._begin(record.replay(), {})
            self.game.opening = record.opening
            self.game.resigned = 0 if self.game.board.is_over else -record.winner

    # What an agent does.

    def question(self) -> Question | None:
        """The question for the agent on turn, the first time that it is asked for in this position; else None."""
        with self._lock:
            mind = self.game.player.mind
            if self.game.is_over or mind is None or any(each.kind is Kind.MOVE for each in self._open):
                return None
            return self._think(Kind.MOVE, mind)

    def ask_hint(self) -> Question:
        """The question what the person on turn might play; its answer becomes `hint_cell`. Raises SessionError."""
        with self._lock:
            if self.game.is_over or self.game.player.mind is not None:
                raise SessionError(f"there is nothing to advise: {self.game.status}")
            if self._adviser is None:
                self._adviser = seat(self._adviser_spec, self.game.board)
            if self._adviser.mind is None:
                raise SessionError("a person gives no hints: name an agent as adviser")
            return self._think(Kind.HINT, self._adviser.mind)

    def ask_outlook(self) -> Question:
        """The question how the game stands; its answer joins `outlook`, as long as these moves stay on the board."""
        with self._lock:
            nets = (player.net for player in self.game.players.values())
            net = next((net for net in nets if net is not None and net.HAS_VALUE), None)
            board, rng = self.game.board.copy(), self._rng()
            return self._ask(Kind.OUTLOOK, lambda: self._look(board, rng, net), lambda: None)

    def accept(self, answer: Answer) -> bool:
        """Take an answer: play the move, keep a hint or an outlook. False if it is of no use any more, or a fault.

        After a fault a stand-in has taken the agent's place, `note` says why, and `question` has a question for it.
        """
        question = answer.question
        with self._locked():
            if question.kind is Kind.OUTLOOK:
                return self._accept_outlook(answer)
            if question not in self._open:
                return False
            self._open.remove(question)
            board, cell = self.game.board, answer.value
            legal = answer.error is None and 0 <= cell < board.cells.size and board.legal_mask()[int(cell)]
            if not legal:
                self._replace(answer)
            elif question.kind is Kind.HINT:
                self.hint_cell = int(cell)
                self._changed = True
            else:
                board.play(int(cell))
                self._move_on()
            return bool(legal)

    def abandon(self) -> None:
        """Have everybody stop thinking and drop what they say; `question` asks anew."""
        with self._locked():
            self._move_on()

    # How it is done, with the lock held.

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, and afterwards, without it, tell the listeners of a change."""
        with self._lock:
            yield
            changed, self._changed = self._changed, False
        for listener in self._listeners if changed else ():
            listener()

    def _move_on(self) -> None:
        """End what has been asked about moves: the position, or who is to move in it, is another now."""
        for question in self._open:
            question.stop()
        self._open.clear()
        self.hint_cell = None
        self._changed = True

    def _begin(self, board: Board, specs: Mapping[int, str]) -> None:
        """Set up a game; players without a new spec stay, but on another board they sit down anew."""
        players = self.game.players if self._games else {}
        resized = bool(self._games) and (board.height, board.width) != (self.game.board.height, self.game.board.width)
        if resized:
            specs = {colour: player.spec for colour, player in players.items()} | dict(specs)
        players = players | {colour: seat(spec, board) for colour, spec in specs.items()}
        if resized:
            self._adviser = None
        self.game = Game(board, players, opening=len(board.moves))
        self._outlook.clear()
        self.thought = None
        self._games += 1
        self._move_on()

    def _rng(self) -> np.random.Generator:
        """Chance for one question: the same game brings the same draws, whatever threads do."""
        return np.random.default_rng([self._seed, self._games, len(self.game.board.moves)])

    def _think(self, kind: Kind, mind: Mind) -> Question:
        self.thought = thought = mind.ask(self.game.board, self._rng())
        return self._ask(kind, thought.answer, thought.stop)

    def _ask(self, kind: Kind, work: Callable[[], float], stop: Callable[[], None]) -> Question:
        question = Question(kind, self._games, tuple(self.game.board.moves), work, stop)
        if kind is not Kind.OUTLOOK:
            self._open.append(question)
        return question

    def _look(self, board: Board, rng: np.random.Generator, net: BoardNet | None) -> float:
        """Runs without the lock, in the thread that answers."""
        if net is None:
            return black_chance(board, rng)
        with self._net_lock:
            return black_chance(board, rng, net)

    def _accept_outlook(self, answer: Answer) -> bool:
        question, ply = answer.question, len(answer.question.moves)
        here = question.game == self._games and self.game.board.moves[:ply] == list(question.moves)
        if not here or answer.error is not None:
            return False
        self._outlook[ply] = answer.value
        self._changed = True
        return True

    def _replace(self, answer: Answer) -> None:
        """Put a stand-in in the place of an agent at fault. Raises the fault of a stand-in."""
        asked = self._adviser if answer.question.kind is Kind.HINT else self.game.player
        assert asked is not None
        why = f"{asked.name} chose the illegal cell {answer.value}"
        if answer.error is not None:
            why = f"{asked.name}: {str(answer.error) or type(answer.error).__name__}"
        if asked.note and answer.error is not None:
            raise answer.error
        if answer.question.kind is Kind.HINT:
            self._adviser = stand_in(asked.spec, why)
        else:
            self.game.players[self.game.board.to_move] = stand_in(asked.spec, why)
        self._move_on()
