"""Everything that touches the disk, the command line, the clock, a seed or the screen.

The packages below (`nn`, `env`, `rl`) are pure: arrays and objects in, arrays and objects out. Here they meet
the world. In this folder stand what a run is told and leaves behind, and whatever a person calls by name:
the commands (`commands.py` is their table) and two boards for notebooks. What they are made of stands in rooms:

    files      what is read and written         pictures   Axes in, Axes out
    java       the reference Java program       training   the learner, and who plays and judges its games
    strength   who is how strong                speed      how fast, and with how many workers
    playing    people and agents at one board   faces      windows, and the board of a notebook

A room imports only rooms before it, column by column, and never a command.
"""
