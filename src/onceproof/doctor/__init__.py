"""What ails a cluster and its clients, as far as it can be seen from outside, and what to do.

    brokers, topics ───────────────▶ Standing ─┐
    transactions, groups: twice ───▶ Look, Look ┼─▶ catalog.py ──▶ Diagnosis … ──▶ draw.py
    a client's own settings ───────▶ ──────────┘         (pure)

It asks and writes nothing; `--abort` alone does (cluster/markers.py), after a confirmation.
"""
