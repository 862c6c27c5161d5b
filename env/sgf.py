r"""Games as SGF, the format most game editors read and write: FF[4], GM[4] (Gomoku and renju).
A file holds one game or many; of each its main line is read.

      (;FF[4]GM[4]SZ[15]RU[renju]PB[Ann]PW[Bob]RE[B+];B[hh];W[ig];B[jj])

A point is two letters, the column from the left and then the row from the top: "hh" is h8 in the middle of 15x15. Some
match managers count their rows from the bottom; such a game comes out upside down, and is the same game.
"""

import re
from collections.abc import Iterable

from env.record import GameRecord
from env.record_text import decode, error_at
from env.rules import BLACK, WHITE, Rule, usual_win_length
from env.sgf_game import READ, SgfGame, point_letters
from env.sgf_tree import escaped, next_token, walk_main_line

MOST_GAMES = 20_000
MOVES_A_LINE = 10


def from_sgf(data: bytes | str, rule: Rule | None = None) -> list[GameRecord]:
    """The games of a file, each by its main line; variations are checked for their brackets only.

    rule: what the games are played by, whatever the file says.

    Settings: SZ is n or columns:rows, and 15 if there is none. RU means freestyle unless it says otherwise. The winning
    length is what our own files say in RU, else five (or the longer side of a board too small for five).
    Setup stones (AB, AW before the first move) become the opening, in an order that leads there by legal moves.
    A pass after the last stone changes nothing and is left out. A pass in between is refused, since the colours of a
    GameRecord alternate.
    Black's forbidden point as the last stone (renju) is left out: it ended the game, and white won.
    The winner is what the board says, else what RE says.

    Raises RecordError, its message beginning with line:column, for a file that is malformed, is another game, plays
    illegal moves or contradicts itself.
    """
    if isinstance(data, bytes):
        declared = re.search(rb"CA\s*\[([\w-]{1,40})\]", data[:4096])
        text = decode(data, declared[1].decode("ascii", errors="replace") if declared else None)
    else:
        text = data
    start = re.search(r"\(\s*;", text)
    if start is None:
        raise error_at(text, 0, "no game found: a game begins with (;")
    games: list[GameRecord] = []
    at = start.start()
    while at < len(text):
        if len(games) == MOST_GAMES:
            raise error_at(text, at, f"more than {MOST_GAMES:,} games: split the file")
        game = SgfGame(text, at, rule)
        _, at = next_token(text, walk_main_line(text, at, READ, game.add))
        games.append(game.record())
    return games


def to_sgf(records: Iterable[GameRecord]) -> str:
    """The games as one SGF text, each a tree without variations. Save it as UTF-8.

    Stones of an opening carry the comment "opening move", as c-gomoku-cli writes them.
    """
    return "".join(map(_tree, records))


def _tree(record: GameRecord) -> str:
    height, width = record.height, record.width
    size = f"{width}" if width == height else f"{width}:{height}"
    rule = record.rule.value
    if record.win_length != usual_win_length(height, width):
        rule += f", {record.win_length} in a row"
    nobody = "0" if len(record.moves) == height * width else "Void"  # a draw, or broken off
    result = {BLACK: "B+", WHITE: "W+"}.get(record.winner, nobody)
    head = (
        f"(;FF[4]GM[4]CA[UTF-8]AP[gomoku-lab]SZ[{size}]RU[{rule}]"
        f"PB[{escaped(record.black)}]PW[{escaped(record.white)}]RE[{result}]"
    )
    nodes = []
    for ply, cell in enumerate(record.moves):
        comment = "C[opening move]" if ply < record.opening else ""
        nodes.append(f";{'BW'[ply % 2]}[{point_letters(cell, width)}]{comment}")
    lines = ["".join(nodes[i : i + MOVES_A_LINE]) for i in range(0, len(nodes), MOVES_A_LINE)]
    return "\n".join([head, *lines]) + ")\n"
