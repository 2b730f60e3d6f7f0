"""onceproof puts an exactly-once pipeline on trial."""

__version__ = "0.1.0"
