"""Points and rules as the Gomocup protocol writes them."""

import pytest

from env import Rule
from env.coords import parse_cell
from env.gomocup import RULE_NUMBERS, ProtocolError, parse_point, point_text, rule_of


def test_a_point_is_the_column_then_the_row_from_the_top() -> None:
    assert point_text(parse_cell("h8", 15, 15), 15) == "7,7"
    assert point_text(parse_cell("b13", 15, 15), 15) == "1,2"
    assert parse_point("1,2", 15, 15) == parse_cell("b13", 15, 15)


@pytest.mark.parametrize(("height", "width"), [(15, 15), (5, 9), (20, 6)])
def test_every_point_is_read_as_it_was_written(height: int, width: int) -> None:
    for cell in range(height * width):
        assert parse_point(point_text(cell, width), height, width) == cell


@pytest.mark.parametrize("text", ["", "7", "7,", "7;7", "-1,3", "7,7,1", "h8", "1e1,2", "٣,٣", "99999,1"])
def test_what_is_no_point_is_named(text: str) -> None:
    with pytest.raises(ProtocolError, match="no point: use column,row from 0,0 to 8,4"):
        parse_point(text, 5, 9)


@pytest.mark.parametrize("text", ["9,0", "0,5", "4,8"])
def test_a_point_off_the_board_is_named(text: str) -> None:
    with pytest.raises(ProtocolError, match=f"{text} is off the board"):
        parse_point(text, 5, 9)


def test_rules_by_number() -> None:
    assert [rule_of(number) for number in (0, 1, 4, 5, 2, 3)] == [
        Rule.FREESTYLE, Rule.STANDARD, Rule.RENJU, Rule.RENJU, Rule.FREESTYLE, Rule.STANDARD,
    ]  # fmt: skip
    assert all(rule_of(number) is rule for rule, number in RULE_NUMBERS.items())
