"""Real database servers as local processes, for suspects that write into a table.

    catalog.py ──▶ postgres.py, cassandra.py: found or fetched, started, asked for a place, ended

Each trial gets a place of its own on a server that many trials may share, as they share brokers.
"""
