"""How fast: contenders that take turns, where the time of training goes, and what more workers would bring.

What counts is CPU time of this process on one thread, unless a table says otherwise.
"""
