"""The pipelines on trial, each a process of its own: how they start, end and are watched."""
