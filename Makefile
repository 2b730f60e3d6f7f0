# Every target works from an empty clone: `setup` makes .venv first.
PYTHON := .venv/bin/python
export PYTHONPATH := src
# Tests are run again and again: where Python may not keep what it compiled, half their time is that.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help

help:  ## show this
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup:  ## make .venv with everything the tests need
	@ONCEPROOF_SETUP_ONLY=dev ./onceproof

fmt: setup  ## format the code
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

lint: setup  ## style and layers
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	.venv/bin/lint-imports

types: setup  ## mypy, strict
	$(PYTHON) -m mypy

postgres:  ## install PostgreSQL's server where there is none (Debian, as root)
	@tools/install_postgres.sh

unit: setup  ## tests without a JVM, under 10 seconds
	$(PYTHON) -m pytest -n 2 --dist worksteal tests/unit tests/golden tests/tidy

test: setup postgres  ## all tests but the long jury
	$(PYTHON) -m pytest -m "not jury"

jury: setup postgres  ## the long one: every liar, many seeds, the sink on each Spark
	$(PYTHON) -m pytest -m jury tests/jury tests/sparks tests/cluster

bench: setup  ## ratios against what a user would pick instead; see bench/RESULTS.md
	$(PYTHON) bench/cluster_start.py
	$(PYTHON) bench/sink_throughput.py --inputs 100:1000000 1000:400000 --rounds 2
	$(PYTHON) bench/sink_small_batches.py
	$(PYTHON) bench/sink_against_streams.py --records 3000000
	$(PYTHON) bench/sink_memory.py
	$(PYTHON) bench/sink_memory.py --python
	$(PYTHON) bench/wire_proxy.py
	$(PYTHON) bench/snapshot_restart.py

.PHONY: help setup fmt lint types postgres unit test jury bench
