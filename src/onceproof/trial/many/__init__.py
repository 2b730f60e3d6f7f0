"""Trials in numbers: one after the other on shared premises, each told against its neighbours.

sweep.py    every crash point of the commit protocol     sweep_plan.py, survey.py
matrix.py   one scenario along versions                  axis.py
compare.py  every way to consume under every fault       compare_plan.py
shrink.py   the fewest faults that still break           broken_run.py, shrink_bases.py
            what a suite runs                            suite_plan.py
relay.py    the next trial is held while one is judged   premises.py: what they share
"""
