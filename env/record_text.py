"""From the bytes of a game file to its text, and from a place in that text to a line and a column.

Game files have no common encoding: they come from Windows programs in China and Japan as often as in UTF-8. The
moves are plain letters everywhere; only names and comments suffer from a wrong guess.
"""

import codecs
import re

from env.record import RecordError

MAX_BYTES = 8 * 2**20  # a game takes about 1 kB; what is larger than this is no collection of games
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# What a file may name as its own encoding; Python knows more, among them some that are no encodings of text.
KNOWN = re.compile(
    r"(us-?)?ascii|utf-?8|utf-?16([lb]e)?|(iso[-_]?8859[-_]|latin-?)\d+|(windows-|cp-?)\d+|koi8[-_][ru]"
    r"|gbk?|gb2312|gb18030|big5|shift[-_]?jis|s-?jis|x-sjis|euc[-_](jp|kr|cn)",
    re.IGNORECASE,
)
LINE_END = re.compile(r"\r\n|\r|\n")


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of a game file, without a byte order mark.

    In this order: what a byte order mark says; the encoding the file declares, if it is a known one and fits; UTF-8;
    Chinese (every pair of high bytes a common character); Shift-JIS and rarer Chinese, if there are bytes that Western
    European text does not have; and Latin-1, which fits always.
    Raises RecordError when the file is too large.
    """
    if len(data) > MAX_BYTES:
        raise RecordError(f"the file has {len(data):,} bytes; game files up to {MAX_BYTES:,} are read")
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, errors="replace")
    guesses = ["utf-8", "gb2312"]
    if re.search(rb"[\x80-\x9f]", data):
        guesses += ["shift_jis", "gb18030", "cp1252"]
    if declared is not None and KNOWN.fullmatch(declared.strip()):
        guesses.insert(0, declared.strip())
    for encoding in guesses:
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def error_at(text: str, offset: int, message: str) -> RecordError:
    """A RecordError whose message begins with the place, "line:column: ", both counted from 1."""
    line, begin = 1, 0
    for end in LINE_END.finditer(text, 0, offset):
        line, begin = line + 1, end.end()
    return RecordError(f"{line}:{offset - begin + 1}: {message}")


def printable(name: str) -> str:
    """A name with every character that steers a terminal, or shows nothing, replaced by U+FFFD."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
