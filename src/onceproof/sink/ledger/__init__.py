"""The ledger: a compacted topic whose entries never expire, the sink's only memory.

partition 0       manifests: how batch b is cut into lanes; rulings of an operator
partition n + 1   tokens of lane n: batch b is committed there, with these rows
"""
