"""What is read and written: games, examples, networks and metrics, in formats of our own and of other programs.

Where a file is to go is looked at before the work; each format is checked whole before anything is taken from it.
"""
