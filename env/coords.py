"""Names for the crossings of a board: a cell is a number in the program and a word like "h8" for people.

Letters count columns from the left, numbers count rows from the bottom, as renju books write them.

        a b c
      3 . . .      cell = row * width + col, row 0 on top: "a3" is cell 0,
      2 . x .      x is "b2", row 1, column 1, cell 4,
      1 . . .      "c1" is cell 8.
"""


class CoordinateError(ValueError):
    """The name of a crossing is misspelt, or the crossing lies off the board."""


def cell_at(row: int, col: int, width: int) -> int:
    """The cell in `row` (from the top) and `col` (from the left) of a board `width` wide."""
    return row * width + col


def cell_name(cell: int, height: int, width: int) -> str:
    """The name of a cell: 112 on a 15x15 board is "h8".

    Raises CoordinateError when the cell is off the board.
    """
    if not 0 <= cell < height * width:
        raise CoordinateError(f"cell {cell} is off the {height}x{width} board: use 0 to {height * width - 1}")
    row, col = divmod(cell, width)
    return f"{chr(ord('a') + col)}{height - row}"


def parse_cell(text: str, height: int, width: int) -> int:
    """The cell that `text` names, in either case: "h8" and "H8" on a 15x15 board are 112.

    Raises CoordinateError when the text is no such name or lies off the board.
    """
    right = f"a1 to {cell_name(width - 1, height, width)}"
    letter, digits = text[:1].lower(), text[1:]
    if not ("a" <= letter <= "z" and digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise CoordinateError(f"{text[:20]!r} is no crossing: use a letter and a number, {right}")
    row, col = height - int(digits), ord(letter) - ord("a")
    if not (0 <= row < height and 0 <= col < width):
        raise CoordinateError(f"{text!r} is off the {height}x{width} board: use {right}")
    return cell_at(row, col, width)
