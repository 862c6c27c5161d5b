"""Where a training configuration comes from: a preset or a TOML file, then `--set`, as the command line names them.

    defaults  <-  --preset NAME or --config FILE.toml  <-  --set key=value ...
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from experiments.config import Config, ConfigError, config_from
from experiments.errors import did_you_mean

_PRESETS = files("experiments") / "presets"


def add_config_arguments(parser: argparse.ArgumentParser, whose: str = "a configuration that comes along") -> None:
    """Declare what names a configuration; `whose` it is begins the help."""
    parser.add_argument("--preset", metavar="NAME", help=f"{whose}: {', '.join(presets())}")
    parser.add_argument("--config", metavar="FILE", type=Path, help="a TOML file of settings instead of a preset")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="change one setting; may be given again"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the same as --set seed=N")


def settings_of(args: argparse.Namespace) -> list[str]:
    """Return the single settings that were asked for, as key=value."""
    return [*args.set, *([f"seed={args.seed}"] if args.seed is not None else [])]


def presets() -> list[str]:
    """The names of the presets that come with the program."""
    return sorted(Path(entry.name).stem for entry in _PRESETS.iterdir() if entry.name.endswith(".toml"))


def load_config(preset: str | None, path: Path | None, settings: Sequence[str]) -> Config:
    """The configuration that a command line describes.

    preset names a file of `experiments/presets`, path a TOML file of one's own (not both); settings are "key=value"
    texts, the value written as in TOML, quotes around a text optional. Raises ConfigError.
    """
    if preset is not None and path is not None:
        raise ConfigError("--preset and --config each name a configuration; give one, and change it with --set")
    values: dict[str, Any] = {}
    if preset is not None:
        if preset not in presets():
            raise ConfigError(f"there is no preset {preset!r}; {did_you_mean(preset, presets())}")
        values = _parse(_PRESETS.joinpath(f"{preset}.toml").read_text(encoding="utf-8"), f"preset {preset}")
    elif path is not None:
        try:
            values = _parse(path.read_text(encoding="utf-8-sig"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}") from None
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: write key=value")
        values[key.strip()] = _value(text.strip())
    return config_from(values)


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: a TOMLDecodeError, or a number of 5,000 digits
        raise ConfigError(f"{where}: not TOML: {error}") from None


def _value(text: str) -> Any:
    """The value of a `--set`: TOML if it can be read as such, else the text itself."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return table["value"] if len(table) == 1 else text  # a text of several lines may hold other keys
