"""Plain consumers, one file for each way to deliver: written as the textbook has it, no better.

They copy: each input record becomes one output record, key and value unchanged.
"""
