"""Files of games: SGF, the Piskvork manager's .psq, and lines of text; which one it is, the ending or the content says.

A mistake in a file is told as FILE:LINE:COLUMN, the way compilers do.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from env import GameRecord, RecordError, Rule
from env.psq import from_psq, to_psq
from env.record_text import MAX_BYTES, decode
from env.sgf import from_sgf, to_sgf
from experiments.errors import UserError
from nn.weights import replace_file

ENDINGS = (".sgf", ".psq", ".txt")


def read_games(path: Path, rule: Rule | None = None) -> list[GameRecord]:
    """Return the games of a file, at least one, each of them played through once.

    rule: what they are played by, whatever the file says.
    Raises `UserError` if the file cannot be read, or is no file of games, or a game in it breaks the rules.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: the name has a NUL in it
        raise UserError(f"{path}: {getattr(error, 'strerror', error)}") from None
    try:
        kind = _kind(path, data)
        games = from_sgf(data, rule) if kind == ".sgf" else [from_psq(data, rule)] if kind == ".psq" else []
    except RecordError as error:
        raise UserError(f"{path}:{error}") from None
    return games or _read_lines(path, data, rule)


def write_games(path: Path, games: Sequence[GameRecord]) -> None:
    """Write games, in the format that the ending of `path` names.

    Raises `UserError` if there is no such format or it cannot hold the games; OSError.
    """
    if path.suffix == ".sgf":
        text = to_sgf(games)
    elif path.suffix == ".txt":
        text = "".join(f"{game.to_line()}\n" for game in games)
    elif path.suffix != ".psq":
        raise UserError(f"{path}: games are written as {', '.join(ENDINGS)}")
    elif len(games) > 1:
        raise UserError(f"{path}: a .psq file holds one game, not {len(games)}; name one, or write .sgf or .txt")
    else:
        text = to_psq(games[0])
    replace_file(path, text.encode("utf-8", errors="replace"))


def _kind(path: Path, data: bytes) -> str:
    """Return the ending that fits: the file's own, or for unusual ones what the content looks like."""
    if path.suffix.lower() in (".sgf", ".psq"):
        return path.suffix.lower()
    begin = decode(data).lstrip()
    return ".psq" if begin.startswith("Piskvorky") else ".sgf" if begin.startswith("(") else ".txt"


def _read_lines(path: Path, data: bytes, rule: Rule | None) -> list[GameRecord]:
    """Return the games of lines of text; blank lines and those that begin with # are passed over."""
    games = []
    text = decode(data)
    if "\0" in text:
        raise UserError(f"{path}: not a text, and so no file of games; those are .sgf, .psq or lines of text")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            game = GameRecord.from_line(line)
            game = game if rule is None else replace(game, rule=rule)
            game.replay()
        except ValueError as error:
            raise UserError(f"{path}:{number}: {error}") from None
        games.append(game)
    if not games:
        raise UserError(f"{path}: there is no game in it")
    return games
