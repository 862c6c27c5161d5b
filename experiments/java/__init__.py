"""The reference Java program: its numbers and its demonstration game here, and all that it computed, value by value.

The only place where its colours 1 and 2, its network and its order of additions meet ours.
"""
