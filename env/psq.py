"""Games as .psq, the format of the Piskvork match manager and of the Gomocup archives. One file is one game.

      Piskvorky 15x15, 11:11, 0      width x height, the players' levels, which player began
      8,8,0                          a move: column from the left, row from the top, counted from 1, milliseconds
      9,7,1304
      pbrain-ann.exe                 the players' programs; may be missing
      pbrain-bob.exe
      0                              how it ended: 0 on the board, 15 and -2 the side to move lost (time, error)
      1,Renju15                      Gomocup's own line: 0 for a draw, and the tournament; may be missing

The opening of a Gomocup game is moves of 0 ms. Neither rule nor winner stand in the file, except as a hint in the last
line; the board decides.
"""

import re
from collections.abc import Sequence

from env.board import Board, ForbiddenMoveError
from env.coords import cell_at
from env.record import GameRecord, RecordError
from env.record_text import decode, error_at, printable
from env.rules import BLACK, WHITE, IllegalMoveError, Rule, check_settings, usual_win_length

SIDE_TO_MOVE_LOST = ("15", "-2")
HUMANS = ("homo-1", "homo-2")  # what Piskvork calls players who are no programs
MOST_LINES = 25 * 25 + 100

_HEADER = re.compile(r"Piskvorky\s+([0-9]{1,4})\s*x\s*([0-9]{1,4})\s*,\s*-?[0-9]+\s*:\s*-?[0-9]+\s*,\s*([01])")
_MOVE = re.compile(r"(-?[0-9]{1,12})\s*,\s*(-?[0-9]{1,12})\s*(?:,\s*(-?[0-9]{1,12})\s*)?")
_LIKE_A_MOVE = re.compile(r"-?[0-9]+\s*[,;]")
_NUMBER = re.compile(r"-?[0-9]+")
_GOMOCUP = re.compile(r"([012])\s*,\s*(.*[a-z].*)", re.IGNORECASE)


def from_psq(data: bytes | str, rule: Rule | None = None) -> GameRecord:
    """The game of a file.

    rule: what the game was played by; else what Gomocup's line hints at, else freestyle.

    The opening is the moves of 0 ms that the file begins with, if moves with a time follow. Black's forbidden point as
    the last stone (renju) is left out: it ended the game, and white won. Otherwise the winner is what the board says;
    if it says nothing, the side to move lost where the file says that somebody did.
    Raises RecordError, its message beginning with line:column, for a file that is malformed or plays illegal moves.
    """
    text = decode(data) if isinstance(data, bytes) else data
    lines = _lines(text)
    if not lines or not (header := _HEADER.fullmatch(lines[0][0])):
        raise error_at(text, lines[0][1] if lines else 0, "no game of Piskvork: expected Piskvorky 15x15, 0:0, 0")
    moves = []
    for line, at in lines[1:]:
        move = _MOVE.fullmatch(line)
        if move is None:
            break
        moves.append((int(move[1]), int(move[2]), int(move[3] or 0), at))
    rest = [line for line, _ in lines[1 + len(moves) :]]
    if rest and (_LIKE_A_MOVE.match(rest[0]) or any(map(_MOVE.fullmatch, rest))):
        raise error_at(text, lines[1 + len(moves)][1], f"{rest[0][:20]!r} is no move: expected column,row,milliseconds")
    names = ("", "")
    if len(rest) >= 2 and not _NUMBER.fullmatch(rest[0]):
        names = (printable(rest[0]), printable(rest[1]))
        rest = rest[2:]
    code = rest.pop(0) if rest and _NUMBER.fullmatch(rest[0]) else "0"
    gomocup = _GOMOCUP.fullmatch(rest[0]) if rest else None
    hint = gomocup[2].lower() if gomocup else ""
    if rule is None:
        rule = next((each for each in (Rule.RENJU, Rule.STANDARD) if each.value in hint), Rule.FREESTYLE)
    board = _board(text, lines[0][1], int(header[2]), int(header[1]), rule)
    foul = _play(board, text, [(x, y, at) for x, y, _, at in moves])
    somebody_lost = foul or code in SIDE_TO_MOVE_LOST or (gomocup is not None and gomocup[1] != "0")
    winner = board.outcome.winner if board.outcome else -board.to_move if somebody_lost else 0
    given = next((ply for ply, (_, _, milliseconds, _) in enumerate(moves) if milliseconds), 0)
    black, white = names if header[3] == "0" else names[::-1]
    return GameRecord.of(board, black, white, winner, given)


def to_psq(record: GameRecord) -> str:
    """The game as the text of a .psq file. The record knows no times: 0 ms is an opening move, 1 ms a chosen one.

    Raises RecordError for what the format cannot say: another winning length than five, a name that is empty, has
    several lines or would be read as a number, a winner who was to move.
    """
    if record.win_length != usual_win_length(record.height, record.width):
        raise RecordError(f"a .psq file holds five in a row, not {record.win_length}; save the game as .sgf")
    board = record.replay()
    code = "0"
    if board.outcome is None:
        code = "-2" if record.winner else "-1"
        if record.winner == board.to_move:
            raise RecordError("a .psq file cannot say that the side to move has won; save the game as .sgf")
    lines = [f"Piskvorky {record.width}x{record.height}, 11:11, 0"]
    for ply, cell in enumerate(record.moves):
        row, col = divmod(cell, record.width)
        lines.append(f"{col + 1},{row + 1},{int(ply >= record.opening)}")
    if record.black or record.white:
        lines += [_name(record.black or HUMANS[0]), _name(record.white or HUMANS[1])]
    result = {BLACK: 1, WHITE: 2}.get(record.winner, 0)
    return "\n".join([*lines, code, f"{result},{record.rule.value}", ""])


def _lines(text: str) -> list[tuple[str, int]]:
    """The lines that are not blank, stripped, and where they begin; lines that no game needs are left out."""
    lines = []
    for match in re.finditer(r"[^\r\n]+", text):
        if line := match[0].strip(" \t\0\x1a\ufeff"):
            lines.append((line, match.start()))
            if len(lines) == MOST_LINES:
                break
    return lines


def _board(text: str, at: int, height: int, width: int, rule: Rule) -> Board:
    try:
        check_settings(height, width, usual_win_length(height, width), rule)
    except ValueError as error:
        raise error_at(text, at, str(error)) from None
    return Board(height, width, usual_win_length(height, width), rule)


def _play(board: Board, text: str, moves: Sequence[tuple[int, int, int]]) -> bool:
    """Play moves (x, y, place in the text), x and y from 1; say whether the last is black's forbidden point instead."""
    for ply, (x, y, at) in enumerate(moves, start=1):
        if not (1 <= x <= board.width and 1 <= y <= board.height):
            raise error_at(text, at, f"{x},{y} is off the board: use 1,1 to {board.width},{board.height}")
        hint = f"; is {board.rule.value} its rule?" if board.is_over else ""
        try:
            board.play(cell_at(y - 1, x - 1, board.width))
        except IllegalMoveError as error:
            if isinstance(error, ForbiddenMoveError) and ply == len(moves):
                return True
            raise error_at(text, at, f"move {ply}, {x},{y}: {error}{hint}") from None
    return False


def _name(name: str) -> str:
    """A name as one line, as from_psq reads it."""
    if name != printable(name.strip()) or _NUMBER.fullmatch(name) or _LIKE_A_MOVE.match(name):
        raise RecordError(f"the name {name!r} cannot stand in a .psq file: it is read as a number or loses blanks")
    return name
