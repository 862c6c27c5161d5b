r"""The grammar of SGF, the Smart Game Format: brackets, semicolons and values, whatever the game.
What stands on a tree's main line is handed on; variations are only checked.

      (;FF[4]GM[4]SZ[15];B[hh];W[ig](;B[jj];W[gg])(;B[ff]))
       root node          two nodes  main line     a variation

A tree is a bracket around nodes and then subtrees; a node is a semicolon and properties; a property is a name and one
value or more in square brackets, in which `\]` is a bracket of the text. https://www.red-bean.com/sgf/, FF[4].
"""

import re
from collections.abc import Callable, Container
from typing import NamedTuple

from env.record_text import error_at, printable

MOST_VALUES = 4 * 25 * 25  # more values than this in one node describe no position ...
MOST_NODES = 4 * 25 * 25  # ... and more nodes than this no game

_BLANK = r"[\s\0\x1a]*+"  # old programs pad their files with NUL or Ctrl-Z
_TOKEN = re.compile(_BLANK + r"([A-Za-z][A-Za-z0-9]*+|[^\s\0\x1a]?)")  # a name, or one character; "" at the end
_VALUE = re.compile(_BLANK + r"\[((?:[^\\\]]++|\\.)*+)\]", re.DOTALL)


class Property(NamedTuple):
    """One property: its name, its values as they stand in the text, and where the name stands."""

    name: str
    values: tuple[str, ...]
    at: int


def walk_main_line(text: str, start: int, names: Container[str], visit: Callable[[list[Property]], None]) -> int:
    """Walk the tree that begins at `start`, show `visit` every node of its main line, return where the tree ends.

    The main line takes the first branch at every fork, so it is all the nodes before the first closing bracket. Only
    their properties called one of `names` are kept, node by node, and brackets are counted instead of nested in calls:
    no file can exhaust memory.
    Raises RecordError with line:column where the grammar is broken, in variations too.
    """
    depth, previous, at = 0, "", start
    nodes = 0  # of the main line
    on_main_line = True
    node: list[Property] = []
    room = MOST_VALUES
    while True:
        token, at = next_token(text, at)
        if previous == ";" and token[:1].isascii() and token[:1].isalpha():
            short = re.sub("[a-z]", "", token) or token  # FF[3] wrote Black[hh] for B[hh]
            values, end = _values(text, at, token)
            if on_main_line and short in names:
                node.append(Property(short, values, at))
                room -= len(values)
                if room < 0:
                    raise error_at(text, at, f"more than {MOST_VALUES} values in one node: no position needs so many")
            at = end
            continue
        if on_main_line and previous == ";" and token and token in "(;)":
            visit(node)
            node, room, nodes = [], MOST_VALUES, nodes + 1
            if nodes > MOST_NODES:
                raise error_at(text, at, f"more than {MOST_NODES} nodes in one game: no game needs so many")
        if token == ")" and previous in (";", ")"):
            on_main_line = False
            depth -= 1
            if depth == 0:
                return at + 1
        elif token == "(" and (previous in (";", ")") or at == start):
            depth += 1
        elif token != ";" or previous not in ("(", ";"):
            raise error_at(text, at, _misplaced(text, start, token, previous))
        previous = token
        at += 1


def next_token(text: str, at: int) -> tuple[str, int]:
    """What comes next and where it begins: a name, one other character, or nothing at the end of the text."""
    match = _TOKEN.match(text, at)
    assert match is not None  # at worst it matches nothing
    return match[1], match.start(1)


def simple_text(raw: str) -> str:
    """A value as the line of text it means: escapes undone, an escaped line end dropped, any other blank a space."""
    raw = re.sub(r"\\(\r\n|\n\r|\r|\n)", "", raw)
    raw = re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
    return printable(re.sub(r"[\t\v\f\r\n]", " ", raw))


def escaped(line: str) -> str:
    """A line of text as a value: the inverse of simple_text."""
    return line.replace("\\", "\\\\").replace("]", "\\]")


def shown(name: str, value: str) -> str:
    """A property for a message, long values cut short."""
    value = simple_text(value[:50])
    return f"{name}[{value if len(value) <= 20 else value[:20] + '...'}]"


def _values(text: str, at: int, name: str) -> tuple[tuple[str, ...], int]:
    """The values of the property whose name stands at `at`, and where the last one ends."""
    values: list[str] = []
    end = at + len(name)
    while value := _VALUE.match(text, end):
        end = value.end()
        if len(values) <= MOST_VALUES:
            values.append(value[1])
    bracket, where = next_token(text, end)
    if bracket == "[":
        raise error_at(text, where, f"the value of {name[:20]} that begins here is not closed: a ] is missing")
    if not values:
        raise error_at(text, at, f"{name[:20]} has no value: expected {name[:20]}[...]")
    return tuple(values), end


def _misplaced(text: str, start: int, token: str, previous: str) -> str:
    """What is wrong with `token`, coming after the bracket or semicolon `previous`."""
    if not token:
        line, column = str(error_at(text, start, "")).split(":")[:2]
        return f"the file ends inside the game that begins at {line}:{column}: a ) is missing"
    if not previous:
        return f"{token[:20]!r} after the end of a game: expected the next game, which begins with (;"
    wanted = {"(": "a ;", ";": "a property, a ; or a bracket", ")": "a bracket"}[previous]
    return f"{token[:20]!r} is out of place after {previous!r}: expected {wanted}"
