"""Decisions made small for the way from a worker to the learner: a bit a cell, and whole numbers as narrow as may be.

On 15x15 a decision is 2.1 kB in memory and 110 bytes on its way. What is unpacked is what was packed, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rl.sampling import BoolArray
from rl.selfplay import Decisions

WIDTHS = (np.int8, np.int16, np.int32)


@dataclass(frozen=True, eq=False)
class Parcel:
    """Decisions: planes and legal as bits, and everything else, by name, as narrow as its numbers allow."""

    shape: tuple[int, ...]  # of planes (T, 2, H, W)
    planes: NDArray[np.uint8]
    legal: NDArray[np.uint8]
    others: dict[str, tuple[NDArray[Any], np.dtype[Any]]]  # and the type it had


def packed(decisions: Decisions) -> Parcel:
    """The decisions, whose planes hold zeros and ones, as a parcel."""
    names = [field.name for field in fields(Decisions) if field.name not in ("planes", "legal")]
    others = {name: getattr(decisions, name) for name in names}
    return Parcel(
        decisions.planes.shape,
        np.packbits(decisions.planes.astype(np.bool_)),
        np.packbits(decisions.legal),
        {name: (_narrow(array), array.dtype) for name, array in others.items()},
    )


def unpacked(parcel: Parcel) -> Decisions:
    """The decisions of a parcel."""
    count, _, height, width = parcel.shape
    planes = _bits(parcel.planes, parcel.shape).astype(np.float32)
    others = {name: array.astype(dtype, copy=False) for name, (array, dtype) in parcel.others.items()}
    return Decisions(planes=planes, legal=_bits(parcel.legal, (count, height * width)), **others)


def _bits(of: NDArray[np.uint8], shape: tuple[int, ...]) -> BoolArray:
    count = int(np.prod(shape))
    return np.unpackbits(of, count=count).view(np.bool_).reshape(shape)


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the first of WIDTHS that holds all its numbers; floats as they are."""
    if array.dtype.kind != "i" or not array.size:
        return array
    low, high = int(array.min()), int(array.max())
    for kind in WIDTHS:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return array.astype(kind, copy=False)
    return array
