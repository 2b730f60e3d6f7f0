"""Data only: one TOML file a scenario, named after the case or the bug. See trial/planning."""
