"""Bits depend on how many threads NumPy uses: as many here as in the program, which says so before NumPy is loaded."""

import experiments.__main__  # noqa: F401
