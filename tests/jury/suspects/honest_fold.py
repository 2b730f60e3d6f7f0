"""Workload fold, kept honestly: every state of every key, in order. One instance."""

import folding

if __name__ == "__main__":
    folding.run(folding.FOLD)
