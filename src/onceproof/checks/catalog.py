"""Name → check. The name is the anomaly's, the command line's, and that of the check's file, which
has _ for -.
"""

from collections.abc import Mapping

from onceproof.checks.case import Case
from onceproof.checks.check import INPUT_PLACE, OUTPUT_PLACE, Check
from onceproof.errors import unknown_name


def has_events(case: Case) -> bool:
    return case.events is not None


def is_cumulative(case: Case) -> bool:
    return case.cumulative


def keeps_order(case: Case) -> bool:
    return case.ordered and not case.cumulative


def has_batches(case: Case) -> bool:
    return case.batches is not None


def has_frames(case: Case) -> bool:
    return case.frames is not None


def has_frames_and_batches(case: Case) -> bool:
    return has_frames(case) and has_batches(case)


def has_frames_and_timed_events(case: Case) -> bool:
    return has_frames(case) and has_events(case) and case.began_at_s is not None


def may_keep_offsets_in_group(case: Case) -> bool:
    """Also where it is not known: only frames that commit such offsets are looked at."""
    return has_frames(case) and case.offsets_in_group is not False


def keeps_offsets_in_group(case: Case) -> bool:
    return has_frames(case) and case.offsets_in_group is True


def has_commits(case: Case) -> bool:
    return may_keep_offsets_in_group(case) and case.commits is not None


def keeps_offsets_in_transactions(case: Case) -> bool:
    return keeps_offsets_in_group(case) and case.transactional is True


def keeps_offsets_in_transactions_with_commits(case: Case) -> bool:
    return keeps_offsets_in_transactions(case) and case.commits is not None


def deletes_records(case: Case) -> bool:
    return "DeleteRecords" in case.traffic


def commits_in_transactions(case: Case) -> bool:
    return "TxnOffsetCommit" in case.traffic


def has_producer_ids(case: Case) -> bool:
    return "InitProducerId" in case.traffic


def instances_have_producer_ids(case: Case) -> bool:
    """More than one of them, for all that is known: it takes two to fence each other."""
    asked = case.traffic.get("InitProducerId")
    return asked is not None and (asked.instances > 1 or asked.undecoded is not None)


CHECKS: Mapping[str, Check] = {
    "lost": Check(
        name="lost",
        description="an input that was passed over: its output never came",
        order=INPUT_PLACE,
    ),
    "duplicated": Check(
        name="duplicated",
        description="one output more often than the input allows",
    ),
    "diverged": Check(
        name="diverged",
        description="two outputs for one input that differ",
    ),
    "regressed": Check(
        name="regressed",
        description="a key's state that goes back",
        applies=is_cumulative,
    ),
    "stale": Check(
        name="stale",
        description="a state found that is not the one expected",
    ),
    "wrong": Check(
        name="wrong",
        description="a value the model does not allow",
    ),
    "invented": Check(
        name="invented",
        description="an output without input",
    ),
    "leaked": Check(
        name="leaked",
        description="a visible record of an aborted transaction, or of none",
        applies=has_batches,
    ),
    "reordered": Check(
        name="reordered",
        description="outputs of a key in another order than their inputs",
        applies=keeps_order,
    ),
    "commit-without-offsets": Check(
        name="commit-without-offsets",
        description="a transaction that commits output and not the offsets it was made of",
        applies=keeps_offsets_in_transactions,
        order=("at_ns",),
    ),
    "unguarded-offset-commit": Check(
        name="unguarded-offset-commit",
        description="offsets in a transaction without member and generation, then of another's",
        applies=may_keep_offsets_in_group,
        can_occur=commits_in_transactions,
        order=("at_ns", *INPUT_PLACE[:3]),
    ),
    "premature-offset": Check(
        name="premature-offset",
        description="a position told as committed whose transaction was aborted",
        applies=has_commits,
        order=("at_ns", *INPUT_PLACE[:3]),
    ),
    "stale-offset": Check(
        name="stale-offset",
        description="a position told as committed though a later one had been committed before",
        applies=keeps_offsets_in_transactions_with_commits,
        order=("at_ns", *INPUT_PLACE[:3]),
    ),
    "deleted-unread": Check(
        name="deleted-unread",
        description="records deleted before the suspect's committed offset had passed them",
        applies=keeps_offsets_in_group,
        can_occur=deletes_records,
        order=("at_ns", "deleted_topic", "deleted_partition"),
    ),
    "zombie-write": Check(
        name="zombie-write",
        description="a write of an epoch that had been fenced, accepted all the same",
        applies=has_frames,
        can_occur=has_producer_ids,
        order=("at_ns", *OUTPUT_PLACE),
    ),
    "shared-transactional-id": Check(
        name="shared-transactional-id",
        description="two live instances that fence each other from one transactional id",
        applies=has_frames_and_timed_events,
        can_occur=instances_have_producer_ids,
        order=("at_ns", "transactional_id"),
    ),
    "hanging-transaction": Check(
        name="hanging-transaction",
        description="an open transaction of an epoch that was replaced: nobody will end it",
        applies=has_frames_and_batches,
        can_occur=has_producer_ids,
        order=("partition", "base_offset"),
    ),
    "stuck": Check(
        name="stuck",
        description="input left, nothing in the way, and nothing moves",
        applies=has_events,
        order=("at_s",),
    ),
    "died": Check(
        name="died",
        description="an instance that ended unasked",
        applies=has_events,
        order=("at_s", "subject"),
    ),
}


def check_named(name: str) -> Check:
    if name not in CHECKS:
        raise unknown_name("check", name, CHECKS)
    return CHECKS[name]
