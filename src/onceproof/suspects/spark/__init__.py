"""The main suspect: a PySpark Structured Streaming job, with our sink or with Spark's own."""
