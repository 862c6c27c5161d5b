"""The evaluation's rules in a JSON file, which a player may keep reading while somebody edits it.
A file is checked from end to end before anything of it is used; what is wrong is said in one line with the place.

      {"rules": [{"id": "open_three", "name": "three that becomes an open four", "enabled": true,
                  "base_score": 100, "is_immediate": true, "weight": 1.0},
                 ... one for each of the ids in rl/search/account.py, in any order],
       "decay": {"enabled": false, "start_move": 30, "end_move": 100, "min_weight": 0.5}}
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rl.search.account import RULE_IDS, Decay, EvaluationRule, EvaluationRules

HIGHEST_SCORE = 1_000_000
LATEST_MOVE = 10_000
RULE_KEYS = ("id", "name", "enabled", "base_score", "is_immediate", "weight")
DECAY_KEYS = ("enabled", "start_move", "end_move", "min_weight")
DEFAULT = Path(__file__).with_name("default_rules.json")


class RuleFileError(ValueError):
    """A file of rules that cannot be used; the one-line message names file, place, fault and remedy."""


@cache
def default_rules() -> EvaluationRules:
    """The rules that come with the program."""
    return load_rules(DEFAULT)


def load_rules(path: str | os.PathLike[str]) -> EvaluationRules:
    """Read a file of rules. Raises RuleFileError if it is missing, no JSON, or does not say what it should."""
    return _parsed(path, _bytes_of(path))


class RuleFile:
    """A file of rules that is looked at again whenever the rules are asked for.

    path   where it is
    error  None, or why the file as it is now cannot be used: then the rules read before stay in force, all of them

    `report`, if given, is told each error once, and that the rules are in force again when one has gone. Raises
    RuleFileError if the file is no good to begin with.
    """

    def __init__(self, path: str | os.PathLike[str], report: Callable[[str], None] | None = None) -> None:
        self.path = Path(path)
        self.error: str | None = None
        self._report = report
        self._seen: bytes | None = _bytes_of(path)
        self._rules = _parsed(path, self._seen)

    def current(self) -> EvaluationRules:
        """The rules in force. The same object until one of them changes."""
        try:
            data = _bytes_of(self.path)
        except RuleFileError as error:
            self._seen = None
            self._tell(str(error))
            return self._rules
        if data != self._seen:  # the bytes, for a disk's clock does not tell two quick changes apart
            self._seen = data
            try:
                rules = _parsed(self.path, data)
            except RuleFileError as error:
                self._tell(str(error))
                return self._rules
            if rules != self._rules:
                self._rules = rules
            self._tell(None)
        return self._rules

    def _tell(self, error: str | None) -> None:
        if error == self.error:
            return
        self.error = error
        if self._report is not None:
            self._report(f"{error}; the rules read before stay in force" if error else f"{self.path}: in force")


def _bytes_of(path: str | os.PathLike[str]) -> bytes:
    if Path(path).exists() and not Path(path).is_file():
        raise RuleFileError(f"{path}: no file; name a JSON file of rules")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise RuleFileError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parsed(path: str | os.PathLike[str], data: bytes) -> EvaluationRules:
    try:
        return _rules(_json(data))
    except _Fault as fault:
        raise RuleFileError(f"{path}: {fault}") from None


class _Fault(Exception):
    """What is wrong in a file and where, without the file's name."""


def _json(data: bytes) -> Any:
    """The value that the JSON text means; a key that stands twice in one object is refused too."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Fault(f"byte {error.start} is no UTF-8; save the file as UTF-8") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _Fault(f"line {error.lineno}, column {error.colno}: broken JSON: {error.msg}") from None
    except RecursionError:
        raise _Fault("brackets are nested too deeply") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise _Fault(f"a number that cannot be read: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            owner = next((f" of the rule {_brief(value)}" for name, value in pairs if name == "id"), "")
            raise _Fault(f"the key {_brief(key)}{owner} stands twice; keep one")
    return dict(pairs)


def _no_number(word: str) -> float:
    raise _Fault(f"{word} is no number; use a finite one")


def _rules(value: Any) -> EvaluationRules:
    _check_keys("the file", value, ("rules", "decay"))
    if not isinstance(value["rules"], list):
        raise _Fault('"rules" is no list; write "rules": [{"id": ...}, ...]')
    found: dict[str, EvaluationRule] = {}
    for number, item in enumerate(value["rules"], start=1):
        rule = _rule(number, item)
        if rule.id in found:
            first = list(found).index(rule.id) + 1
            raise _Fault(f'rule {number}: the id "{rule.id}" stands already at rule {first}; an id is used once')
        found[rule.id] = rule
    for wanted in RULE_IDS:
        if wanted not in found:
            raise _Fault(f'the rule "{wanted}" is missing; to do without it, write it with "enabled": false')
    return EvaluationRules(tuple(found[wanted] for wanted in RULE_IDS), _decay(value["decay"]))


def _rule(number: int, value: Any) -> EvaluationRule:
    where = f"rule {number}"
    if isinstance(value, dict) and "id" in value:
        if not isinstance(value["id"], str) or value["id"] not in RULE_IDS:
            raise _Fault(f"{where}: unknown id {_brief(value['id'])}; {_closest(value['id'], RULE_IDS)}")
        where += f' ("{value["id"]}")'
    _check_keys(where, value, RULE_KEYS)
    if not isinstance(value["name"], str) or not value["name"].strip():
        raise _Fault(f"{where}: name {_brief(value['name'])}; use a text")
    return EvaluationRule(
        id=value["id"],
        name=value["name"],
        enabled=_truth(where, value, "enabled"),
        base_score=_number(where, value, "base_score", HIGHEST_SCORE),
        is_immediate=_truth(where, value, "is_immediate"),
        weight=_number(where, value, "weight", 1),
    )


def _decay(value: Any) -> Decay:
    _check_keys("decay", value, DECAY_KEYS)
    start, end = (_number("decay", value, key, LATEST_MOVE) for key in ("start_move", "end_move"))
    for key in ("start_move", "end_move"):
        if not isinstance(value[key], int):
            raise _Fault(f"decay: {key} {_brief(value[key])}; use a whole number")
    if start > end:
        raise _Fault(f"decay: start_move {start:g} comes after end_move {end:g}; use an end_move of {start:g} or more")
    return Decay(_truth("decay", value, "enabled"), int(start), int(end), _number("decay", value, "min_weight", 1))


def _check_keys(where: str, value: Any, wanted: tuple[str, ...]) -> None:
    """Refuse what is no object, or one with a key that is unknown or missing."""
    if not isinstance(value, dict):
        raise _Fault(f"{where}: {_brief(value)} is no object; write {{{', '.join(wanted)}}} with values")
    for key in value:
        if key not in wanted:
            raise _Fault(f"{where}: unknown key {_brief(key)}; {_closest(key, wanted)}")
    for key in wanted:
        if key not in value:
            raise _Fault(f'{where}: the key "{key}" is missing')


def _number(where: str, value: dict[str, Any], key: str, highest: float) -> float:
    number = value[key]
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= highest:
        raise _Fault(f"{where}: {key} {_brief(number)}; use a number from 0 to {highest:,}")
    return float(number)


def _truth(where: str, value: dict[str, Any], key: str) -> bool:
    if not isinstance(value[key], bool):
        raise _Fault(f"{where}: {key} {_brief(value[key])}; use true or false")
    return bool(value[key])


def _closest(word: Any, known: Iterable[str]) -> str:
    match = difflib.get_close_matches(str(word), list(known), n=1)
    return f'did you mean "{match[0]}"?' if match else f"known: {', '.join(known)}"


def _brief(value: Any) -> str:
    """A value as JSON, cut short."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
