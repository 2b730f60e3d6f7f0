"""What each anomaly means, in one line a reader of a report understands without the manual."""

EXPLANATIONS = {
    "lost": "An input record has no output, although the suspect went past it.",
    "duplicated": "The output holds the same result more often than the input allows.",
    "diverged": "One input record led to two outputs that differ.",
    "regressed": "The output of a key went back to an older state after a newer one.",
    "stale": "The suspect read an older state of a key than the one it had written before.",
    "leaked": "A read_committed reader sees a record that no committed transaction holds.",
    "wrong": "The output holds a value that the model of the workload does not allow.",
    "invented": "The output holds a record that no input record leads to.",
    "reordered": "Two records of one key came out in another order than they went in.",
    "stale-offset": "The group told an older position than was committed: records come again.",
    "premature-offset": "The group told a position that never was committed: records are skipped.",
    "commit-without-offsets": "A transaction committed output, but not how far its input was read.",
    "unguarded-offset-commit": "Offsets were committed so that a replaced instance still could.",
    "deleted-unread": "Records were deleted that a restarted suspect would have had to read.",
    "zombie-write": "An instance that had been replaced still wrote to the output.",
    "shared-transactional-id": "Two live instances fenced each other from one transactional id.",
    "hanging-transaction": "A transaction that nobody will end blocks read_committed readers.",
    "stuck": "The suspect ran on but made no more progress, although input was left.",
    "died": "The suspect ended by itself, without having been asked to.",
}


def explain(anomaly: str) -> str:
    return EXPLANATIONS.get(anomaly, "")
