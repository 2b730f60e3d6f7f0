"""Deterministic input on Spark, and the model of what it must lead to.

    InputPlan(seed, records, keys) ──generate──▶ inject ──▶ input topic ──expected──▶ EXPECTED
                                                            output topic ──observed──▶ OBSERVED

workload.py       what a workload is; imports its module (and pyspark) only when it is used
catalog.py        name → workload
input_plan.py     how many records, over how many keys, from which seed
grid.py           which record stands where: one key in one task, no shuffle
input_records.py  the input read back, and what is wrong with it
units.py          EXPECTED out of one record per unit
copy.py fold.py dedup.py last.py   one workload each
pace.py           which slice is due by now
inject.py         writes a slice of the plan to the topic, as a burst or paced
"""
