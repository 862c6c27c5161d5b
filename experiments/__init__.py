"""Everything that touches the disk, the command line, the clock, a seed or the screen.

The packages below (`nn`, `env`, `rl`) are pure: arrays and objects in, arrays and objects out. Here they meet
the world. `experiments/__main__.py` holds the table of commands.
"""
