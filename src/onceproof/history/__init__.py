"""The shared nouns: events, findings, verdicts, faults as recorded, the run directory, Spark
schemas.
"""
