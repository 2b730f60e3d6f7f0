"""From what a run directory holds to a verdict; nothing in here asks a broker but the cross-check.

history/*.parquet ──tables.py──▶ judge.py (checks) ──▶ findings ─┐
a second reader of the topics ──crosscheck.py────────────────────┤
how everything stood ──standing.py─ what was noted ──seen.py─────┼──decide.py──▶ verdict
what is expected besides ──points.py
a stored run judged again: recheck.py
"""
