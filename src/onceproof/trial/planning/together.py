"""Whether scenario, suspect and cluster go together; told before anything is started."""

from collections.abc import Sequence

from onceproof.errors import UsageError, unknown_name
from onceproof.faults.schedule import Step
from onceproof.suspects.suspect import Suspect
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import Scenario
from onceproof.versions import by_version
from onceproof.workloads.catalog import workload_named


def check_together(scenario: Scenario, schedule: Sequence[Step], suspect: Suspect) -> None:
    workload = workload_named(scenario.workload)
    if workload.name not in suspect.workloads:
        raise unknown_name(f"workload of {suspect.name}", workload.name, suspect.workloads)
    if scenario.instances > suspect.instances_max:
        raise UsageError(
            f"{suspect.name} runs as at most {suspect.instances_max} instance(s);"
            f" got {scenario.instances}"
        )
    if scenario.records < scenario.records_min:
        raise UsageError(
            f"scenario {scenario.name} needs at least {scenario.records_min} records to find out"
            f" anything; got {scenario.records}"
        )
    if scenario.iterations > scenario.records:
        raise UsageError(
            f"{scenario.iterations} iterations need at least as many records;"
            f" got {scenario.records}"
        )
    if scenario.producer_byte_rate is not None and not suspect.producer_clients:
        raise UsageError(
            f"a quota is set on client ids, and those of {suspect.name}'s producers are not known"
        )
    isolates = any(step.needs_wire_among_controllers for step in schedule)
    if isolates and by_version(scenario.kafka) < by_version("4"):
        raise UsageError(
            f"controllers of Kafka {scenario.kafka} cannot be told other addresses than their own:"
            " `isolate` needs 4.0 or later"
        )
    if isolates and scenario.controllers == "apart":
        raise UsageError(
            "`isolate` is for brokers that are controllers, too; got controllers apart"
        )


def check_cluster(scenario: Scenario, schedule: Sequence[Step], request: Request) -> None:
    """What a cluster that runs already, or one that is to be kept, cannot be asked for."""
    if request.bootstrap_server is not None:
        _refuse_on_a_foreign_cluster(scenario, schedule, request)
    if request.keep_cluster and scenario.controllers == "apart":
        raise UsageError(
            f"scenario {scenario.name} has its controller apart, which `cluster down` would not"
            " find: leave --keep-cluster out"
        )
    if request.keep_cluster and any(step.needs_wire for step in schedule):
        raise UsageError(
            f"scenario {scenario.name} needs the proxy, which ends with the run; a cluster that is"
            " kept would lead nowhere: leave --keep-cluster out"
        )


def _refuse_on_a_foreign_cluster(
    scenario: Scenario, schedule: Sequence[Step], request: Request
) -> None:
    if any(step.hits_brokers for step in schedule):
        raise UsageError(
            f"scenario {scenario.name} injects faults into brokers; {request.bootstrap_server} is a"
            " cluster that runs already, and its processes are not ours to touch."
            " Run a scenario without broker faults (tc01_normal, tc02_crash_loop), or leave"
            " --bootstrap-server out"
        )
    if any(step.needs_wire for step in schedule):
        raise UsageError(
            f"scenario {scenario.name} has faults on the network; the addresses of"
            f" {request.bootstrap_server} do not lead through our proxy"
        )
    own_brokers = request.kafka or request.kafka_jars
    if own_brokers or scenario.broker_properties or scenario.producer_byte_rate:
        raise UsageError(
            "--kafka, --kafka-jars, broker properties and quotas are for clusters that"
            " onceproof starts"
        )
    if request.keep_cluster:
        raise UsageError("--keep-cluster is for clusters that onceproof starts")
