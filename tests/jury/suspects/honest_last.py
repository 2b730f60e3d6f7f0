"""Workload last, kept honestly: what it finds is what the record before left. One instance."""

import folding

if __name__ == "__main__":
    folding.run(folding.LAST)
