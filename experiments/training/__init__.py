"""What a run is made of: where it begins, who plays its games, the learner, its state in a checkpoint, the verdict.

Imitation (its plan, its lessons, its pupil) and sweeps of many runs stand here too.
"""
