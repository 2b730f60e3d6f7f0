"""What the logs of both coordinators tell of their loading."""

from datetime import datetime

from onceproof.cluster.loading import Loading, loadings

CLASSIC = [
    "2026-11-18 08:59:13.700 [kafka-2-metadata-loader-event-handler] INFO"
    " kafka.coordinator.group.GroupMetadataManager - [GroupMetadataManager brokerId=2] Scheduling"
    " loading of offsets and group metadata from __consumer_offsets-2 for epoch 3",
    "2026-11-18 08:59:14.000 [x] INFO GroupMetadataManager - Scheduling unloading of offsets and"
    " group metadata from __consumer_offsets-1",
    "2026-11-18 08:59:15.904 [group-metadata-manager-0] INFO"
    " kafka.coordinator.group.GroupMetadataManager - [GroupMetadataManager brokerId=2] Finished"
    " loading offsets and group metadata from __consumer_offsets-2 in 2204 milliseconds for epoch"
    " 3, of which 4 milliseconds was spent in the scheduler.",
]
NEW = [
    "2026-11-18 09:00:23.470 [kafka-1-metadata-loader-event-handler] INFO CoordinatorRuntime -"
    " [GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-1 with"
    " epoch 1",
    "2026-11-18 09:00:29.562 [group-coordinator-event-processor-0] INFO CoordinatorRuntime -"
    " [GroupCoordinator id=1] Finished loading of metadata from __consumer_offsets-1 with epoch 1"
    " in 6088ms where 0ms was spent in the scheduler. Loaded 3500000 records which total to"
    " 31121245 bytes.",
]


def at(text: str) -> float:
    return datetime.fromisoformat(f"2026-11-18 {text}").timestamp()


def test_the_classic_coordinator_says_when_and_for_how_long() -> None:
    (found,) = loadings(CLASSIC)
    assert found == Loading(
        partition="__consumer_offsets-2",
        since_unix_s=at("08:59:13.700"),
        until_unix_s=at("08:59:15.904"),
    )
    assert round(found.lasted_s(at("09:30:00.000")), 3) == 2.204


def test_so_does_the_new_one() -> None:
    (found,) = loadings(NEW)
    assert (found.partition, round(found.lasted_s(0), 3)) == ("__consumer_offsets-1", 6.088)


def test_one_that_has_not_ended_lasts_until_now() -> None:
    (found,) = loadings(NEW[:1])
    assert found.until_unix_s is None
    assert round(found.lasted_s(at("09:00:24.470")), 3) == 1.0


def test_a_partition_may_be_loaded_more_than_once_and_unloading_is_none() -> None:
    assert [each.until_unix_s is None for each in loadings([*CLASSIC, CLASSIC[0]])] == [False, True]
    assert loadings(CLASSIC[1:2]) == []
