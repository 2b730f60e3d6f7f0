"""The rules, one file each: what is done to a frame that fits. Pure: time and dice are given.

A rule is data when it comes from a scenario, `{"rule": "delay", "seconds": 0.1, …}`, and is made by
`catalog.make_rule`.
"""
