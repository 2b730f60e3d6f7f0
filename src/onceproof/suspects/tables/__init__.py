"""The tables of suspects that write into a database: what they hold, read without disturbing."""
