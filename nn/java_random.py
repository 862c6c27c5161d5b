"""java.util.Random, bit for bit: the generator whose numbers fill the Java program's network.

Each method stands by its definition, one number at a time, and ``random`` and ``standard_normal`` draw whole arrays,
leaving the generator exactly where the same number of single draws would have left it.

Source: the class comments of java.util.Random; for the logarithm, the comment of fdlibm's e_log.c (Sun, 1993).
"""

import math
from functools import cache
from operator import index

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
STATE_MASK = (1 << 48) - 1
BLOCK = 1 << 16  # states made by one array operation
ATTEMPTS = 1 << 14  # most Gaussian pairs tried at once: their arrays fit into the cache

Size = int | tuple[int, ...]


class JavaRandom:
    """A 48-bit linear congruential generator: ``state = (state * MULTIPLIER + INCREMENT) mod 2^48``.

    It offers the names a NumPy Generator has where they mean the same: ``random`` and ``standard_normal``.
    """

    def __init__(self, seed: int) -> None:
        self.set_seed(seed)

    def set_seed(self, seed: int) -> None:
        """Start again from ``seed`` (a signed 64-bit number; its low 48 bits count); drops the kept Gaussian."""
        self._state = (index(seed) ^ MULTIPLIER) & STATE_MASK
        self._kept: float | None = None

    def _next(self, bits: int) -> int:
        """Advance once and return the top ``bits`` bits of the state, not negative."""
        self._state = (self._state * MULTIPLIER + INCREMENT) & STATE_MASK
        return self._state >> (48 - bits)

    def next_int(self, bound: int | None = None) -> int:
        """Return a signed 32-bit number, or one in 0..bound-1.

        For a bound that is no power of two, numbers from the incomplete last stretch of 0..2^31-1 are drawn again.
        Raises ValueError for a bound outside 1..2^31-1.
        """
        if bound is None:
            number = self._next(32)
            return number - (1 << 32) if number >> 31 else number
        bound = index(bound)
        if not 1 <= bound < 1 << 31:
            raise ValueError(f"next_int: got bound {bound}, wanted 1 to 2147483647")
        if bound & (bound - 1) == 0:
            return (bound * self._next(31)) >> 31
        while True:
            number = self._next(31)
            if number - number % bound + (bound - 1) < 1 << 31:
                return number % bound

    def next_double(self) -> float:
        """Return a number in [0, 1): 26 high bits and 27 low bits, over 2^53."""
        high = self._next(26)
        return ((high << 27) + self._next(27)) * 2.0**-53

    def next_gaussian(self) -> float:
        """Return a standard normal number, by Marsaglia's polar method, which makes two and keeps the second.

        A point (v1, v2) is drawn in the square until it falls inside the unit circle, q away from the centre
        squared; both v times ``sqrt(-2 log(q) / q)`` are normal and independent.
        """
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        while True:
            v1 = 2 * self.next_double() - 1
            v2 = 2 * self.next_double() - 1
            q = v1 * v1 + v2 * v2
            if 0 < q < 1:
                multiplier = math.sqrt(-2 * float(fdlibm_log(np.array([q]))[0]) / q)
                self._kept = v2 * multiplier
                return v1 * multiplier

    def random(self, size: Size | None = None) -> NDArray[np.float64]:
        """Return an array of ``next_double`` results in C order; shape () without a size.

        Shapes: size -> size.
        """
        shape = _shape(size)
        count = math.prod(shape)
        states = self._upcoming(2 * count)
        if count:
            self._state = int(states[-1])
        return _doubles(states).reshape(shape)

    def standard_normal(self, size: Size | None = None) -> NDArray[np.float64]:
        """Return an array of ``next_gaussian`` results in C order; shape () without a size.

        Shapes: size -> size. The first number may be the kept one, and the last pair's second may be kept.
        """
        shape = _shape(size)
        out = np.empty(math.prod(shape))
        filled = 0
        if self._kept is not None and out.size:
            out[0], self._kept, filled = self._kept, None, 1
        while filled < out.size:
            pairs = (out.size - filled + 1) // 2
            states = self._upcoming(4 * min(ATTEMPTS, pairs * 4 // 3 + 8))
            v = 2 * _doubles(states).reshape(-1, 2) - 1  # (attempts, 2)
            q = v[:, 0] * v[:, 0] + v[:, 1] * v[:, 1]
            inside = np.flatnonzero((q < 1) & (q != 0))[:pairs]
            q = q[inside]
            numbers = (v[inside] * np.sqrt(-2 * fdlibm_log(q) / q)[:, None]).ravel()
            used = inside[-1] + 1 if len(inside) == pairs else len(v)  # attempts that the single draws would have made
            self._state = int(states[4 * used - 1])
            wanted = numbers[: out.size - filled]
            out[filled : filled + len(wanted)] = wanted
            filled += len(wanted)
            if len(wanted) < len(numbers):
                self._kept = float(numbers[-1])
        return out.reshape(shape)

    def _upcoming(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` states without moving: s -> multipliers[k] * s + increments[k] is k+1 steps."""
        multipliers, increments = _jumps()
        states = np.empty(count, np.uint64)
        state = np.uint64(self._state)
        for first in range(0, count, BLOCK):
            block = states[first : first + BLOCK]
            np.multiply(multipliers[: len(block)], state, out=block)  # modulo 2^64, of which 2^48 is a divisor
            block += increments[: len(block)]
            block &= np.uint64(STATE_MASK)
            state = block[-1]
        return states


def fdlibm_log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the natural logarithm as Java's StrictMath has it, which is not always the nearest double.

    Any shape, for positive, finite, normal numbers. Write x = 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and
    s = f / (2 + f); then log(1 + f) = 2 atanh(s), that is, with a polynomial R in s^2,

        log(1 + f) = f - s * (f - R)                    or, more exactly when f is not small,
        log(1 + f) = f - (f^2/2 - s * (f^2/2 + R))

    and k * log(2) is added in two pieces, high and low. The order of the operations decides the last bit.
    """
    bits = x.view(np.int64)
    top = (bits >> 32) & 0xFFFFF  # the upper 20 bits of the fraction
    above = (top + 0x95F64) & 0x100000  # set when the fraction is above sqrt(2): halve it, add one to k
    k = ((bits >> 52) - 1023 + (above >> 20)).astype(np.float64)
    f = ((bits & 0xFFFFFFFFFFFFF) | ((above ^ 0x3FF00000) << 32)).view(np.float64) - 1.0
    high, low = k * 6.93147180369123816490e-01, k * 1.90821492927058770002e-10

    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    r = odd + even
    half = 0.5 * f * f
    tiny = f * f * (0.5 - 0.33333333333333333 * f)  # enough when |f| < 2^-20

    exact = half - (s * (half + r) + low)
    plain = s * (f - r) - low
    is_tiny = ((top + 2) & 0xFFFFF) < 3
    is_wide = ((top - 0x6147A) | (0x6B851 - top)) > 0
    return high - (np.where(is_tiny, tiny - low, np.where(is_wide, exact, plain)) - f)


@cache
def _jumps() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return multipliers (BLOCK,) and increments (BLOCK,): entry k takes a state k+1 steps on.

    Built by doubling: k+1 steps after m steps are ``a[k] * (a[m-1] * s + c[m-1]) + c[k]``.
    """
    multipliers, increments = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    multipliers[0], increments[0] = MULTIPLIER, INCREMENT
    done = 1
    while done < BLOCK:
        multipliers[done : 2 * done] = multipliers[:done] * multipliers[done - 1]
        increments[done : 2 * done] = multipliers[:done] * increments[done - 1] + increments[:done]
        done *= 2
    return multipliers, increments


def _doubles(states: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Make one double of every two states: (2n,) -> (n,)."""
    high = (states[0::2] >> np.uint64(22)) << np.uint64(27)
    return (high + (states[1::2] >> np.uint64(21))).astype(np.float64) * 2.0**-53


def _shape(size: Size | None) -> tuple[int, ...]:
    return () if size is None else (int(size),) if isinstance(size, (int, np.integer)) else tuple(size)
