"""One game of an SGF file on its way to a record: what its nodes say, taken one after the other.

Which rule is meant, where the stones of a position set up come from, who won: programs say it in many ways, and what
contradicts itself is refused at the place where it stands.
"""

import re

from env.board import Board, ForbiddenMoveError
from env.coords import CoordinateError, parse_cell
from env.record import GameRecord, RecordError
from env.record_text import error_at
from env.render import COLOUR_NAMES
from env.rules import BLACK, WHITE, IllegalMoveError, Rule, check_settings, usual_win_length
from env.setup_stones import play_setup
from env.sgf_tree import Property, shown, simple_text

MOST_SET_UP = 4 * 25 * 25  # points set up, or taken away again, before one game
STONES = {"B": BLACK, "W": WHITE, "AB": BLACK, "AW": WHITE}
SETUP = ("AB", "AW", "AE")
ABOUT = ("GM", "SZ", "RU", "PB", "PW", "RE", "PL")  # what is said of the game as a whole
READ = frozenset([*STONES, *SETUP, *ABOUT, "C"])
# How programs name the rules in RU: words, Gomocup's numbers, renju's opening rules, Chinese. First match counts.
RULE_WORDS: dict[str, Rule | None] = {
    r"caro|^[2389]$": None,
    r"^4$|renju|\brif\b|yamaguchi|soosyrv|taraguchi|tarannikov|sakata|[\u8fde\u9023]\u73e0|\u6709\u7981": Rule.RENJU,
    r"^1$|standard|exact": Rule.STANDARD,
}


def point_letters(cell: int, width: int) -> str:
    """The two letters of a point: the column from the left, then the row from the top."""
    row, col = divmod(cell, width)
    return f"{chr(ord('a') + col)}{chr(ord('a') + row)}"


class SgfGame:
    """A game that grows node by node; `rule` is what it is played by, whatever the file says."""

    def __init__(self, text: str, start: int, rule: Rule | None) -> None:
        self.text, self.rule = text, rule
        self.about: dict[str, Property] = {}  # what is said of the game as a whole, the first time it is said
        self.board: Board | None = None  # from the first stone on
        self.setup: dict[int, int] = {}  # cell -> colour, in the order of the file, until the first move
        self.setup_at = start
        self.points = 0  # that setup stones have named so far
        self.opening = 0
        self.passed: Property | None = None
        self.foul: RecordError | None = None  # black's last stone was forbidden, which loses

    def add(self, node: list[Property]) -> None:
        """Take one node: first what it says about the game, then its setup stones, then its moves as they stand.

        A node should hold one move; some programs put all of them into one.
        """
        comment = ""
        for each in node:
            if each.name in ABOUT:
                self.about.setdefault(each.name, each)
            elif each.name == "C":
                comment = each.values[0]
        for each in node:
            if each.name in SETUP:
                self._set_up(each)
        for each in node:
            if each.name in ("B", "W"):
                self._move(each, is_opening=comment.startswith("opening"))

    def record(self) -> GameRecord:
        """The finished record."""
        board = self._finish_setup()
        black, white = (simple_text(self._about(name)) for name in ("PB", "PW"))
        return GameRecord.of(board, black, white, self._winner(board), self.opening)

    def _about(self, name: str) -> str:
        return self.about[name].values[0] if name in self.about else ""

    def _refuse(self, what: Property, message: str, value: str | None = None) -> RecordError:
        refused = shown(what.name, what.values[0] if value is None else value)
        return error_at(self.text, what.at, f"{refused}: {message}")

    def _begun(self) -> Board:
        """The board, made from what the file has said so far when the first stone is about to be placed."""
        if self.board is not None:
            return self.board
        kind = self.about.get("GM")
        if kind is not None and kind.values[0].strip() != "4" and self.rule is None:
            raise self._refuse(kind, "another game; Gomoku and renju are GM[4] (name the rule to read it all the same)")
        size = self.about.get("SZ")
        match = re.fullmatch(r"\s*([0-9]{1,3})\s*(?::\s*([0-9]{1,3})\s*)?", size.values[0] if size else "15")
        if match is None:
            assert size is not None
            raise self._refuse(size, "no size of a board: expected SZ[15] or SZ[columns:rows]")
        width = int(match[1])
        height = int(match[2] or width)
        rule, win_length = self._rule(height, width)
        try:
            check_settings(height, width, win_length, rule)
        except ValueError as error:
            raise self._refuse(size or self.about["RU"], str(error)) from None
        self.board = Board(height, width, win_length, rule)
        return self.board

    def _rule(self, height: int, width: int) -> tuple[Rule, int]:
        """What RU says: the rule, and the winning length."""
        said = self._about("RU").strip().lower()
        length = re.search(r"\b([0-9]{1,2}) in a row", said)
        win_length = int(length[1]) if length else usual_win_length(height, width)
        if self.rule is not None:
            return self.rule, win_length
        for words, rule in RULE_WORDS.items():
            if re.search(words, said):
                if rule is None:
                    raise self._refuse(self.about["RU"], "a rule unknown here; known are freestyle, standard, renju")
                return rule, win_length
        return Rule.FREESTYLE, win_length

    def _set_up(self, stones: Property) -> None:
        """Note setup stones, single points or rectangles such as aa:cc; AE takes some away again."""
        board = self._begun()
        if board.moves or self.passed:
            raise self._refuse(stones, "stones set up in the middle of a game; they are read before the first move")
        if not self.setup:
            self.setup_at = stones.at
        for value in stones.values:
            corners = [self._cell(stones, corner) for corner in value.split(":", 1)]
            if None in corners:
                raise self._refuse(stones, "no point of the board", value)
            (top, left), (bottom, right) = (divmod(cell or 0, board.width) for cell in (corners[0], corners[-1]))
            self.points += max(0, bottom + 1 - top) * max(0, right + 1 - left)
            if self.points > MOST_SET_UP:
                raise self._refuse(stones, f"more than {MOST_SET_UP} points set up: no position needs so many", value)
            for row in range(top, bottom + 1):
                for cell in range(row * board.width + left, row * board.width + right + 1):
                    self.setup.pop(cell, None)
                    if stones.name != "AE":
                        self.setup[cell] = STONES[stones.name]

    def _finish_setup(self) -> Board:
        """The board with the setup stones played, in an order that is a legal opening."""
        board = self._begun()
        if self.setup:
            black, white = ([cell for cell, colour in self.setup.items() if colour == own] for own in (BLACK, WHITE))
            if len(black) - len(white) not in (0, 1):
                message = f"{len(black)} black and {len(white)} white setup stones: no game that black begins has those"
                raise error_at(self.text, self.setup_at, message)
            if not play_setup(board, black, white):
                message = "setup stones that no legal moves lead to: the game was over before, or a move was forbidden"
                raise error_at(self.text, self.setup_at, message)
            self.opening = len(board.moves)
            self.setup = {}
        turn = self.about.pop("PL", None)
        if turn is not None and not board.moves[self.opening :]:
            said = {"b": BLACK, "w": WHITE}.get(turn.values[0].strip().lower()[:1])
            if said != board.to_move:
                mover = COLOUR_NAMES[board.to_move]
                raise self._refuse(turn, f"{mover} is to move: black begins, and colours alternate")
        return board

    def _move(self, move: Property, is_opening: bool) -> None:
        """Play one stone, or note that the side to move passes."""
        if len(move.values) > 1:
            raise self._refuse(move, f"{len(move.values)} points in one move; a move has one")
        board = self._finish_setup()
        cell = self._cell(move, move.values[0])
        if cell is None:
            self.passed = self.passed or move
            return
        if self.passed is not None:
            raise self._refuse(self.passed, "a pass in the middle of the game; a record here has none")
        if self.foul is not None:
            raise self.foul
        if board.outcome is not None:
            ended = "was drawn" if board.outcome.winner == 0 else f"was won by {COLOUR_NAMES[board.outcome.winner]}"
            message = f"a stone after the end: the game {ended} with move {len(board.moves)}"
            raise self._refuse(move, f"{message}; is {board.rule.value} its rule?")
        if STONES[move.name] != board.to_move:
            turn = f"{COLOUR_NAMES[board.to_move]} is to play move {len(board.moves) + 1}"
            raise self._refuse(move, f"{turn}: black begins, and colours alternate")
        try:
            board.play(cell)
        except ForbiddenMoveError as error:
            self.foul = self._refuse(move, str(error))
        except IllegalMoveError as error:
            raise self._refuse(move, str(error)) from None
        if is_opening and self.opening == len(board.moves) - 1:
            self.opening += 1

    def _cell(self, owner: Property, value: str) -> int | None:
        """The cell of a point: two letters, or a name such as h8. None is a pass: nothing, or tt up to 19x19."""
        board = self._begun()
        point = value.strip().lower()
        last = point_letters(board.height * board.width - 1, board.width)
        if not point or (point == "tt" and max(board.height, board.width) <= 19):
            return None
        if re.fullmatch("[a-z][a-z]", point):
            col, row = (ord(letter) - ord("a") for letter in point)
            if col < board.width and row < board.height:
                return row * board.width + col
            raise self._refuse(owner, f"off the {board.height}x{board.width} board: use aa to {last}", value)
        if re.fullmatch("[a-z][0-9]{1,2}", point):
            try:
                return parse_cell(point, board.height, board.width)
            except CoordinateError as error:
                raise self._refuse(owner, str(error), value) from None
        raise self._refuse(owner, f"no point: expected two letters, aa to {last}", value)

    def _winner(self, board: Board) -> int:
        """Who won: as the board says, else as RE says (B+..., W+...), else nobody."""
        match = re.match(r"\s*(?:(b)|(w))(?:lack|hite)?(?:\+|\W*$|\s*win)", self._about("RE"), re.IGNORECASE)
        said = 0 if match is None else BLACK if match[1] else WHITE
        if self.foul is not None:
            if said == BLACK:
                raise self.foul
            return WHITE
        if board.outcome is None:
            return said
        if said and said != board.outcome.winner:
            won = f"{COLOUR_NAMES[board.outcome.winner]} has won" if board.outcome.winner else "it is a draw"
            raise self._refuse(self.about["RE"], f"on the board {won}; is {board.rule.value} its rule?")
        return board.outcome.winner
