"""Conditions on the kernel, its boot parameters, and WSL."""

from __future__ import annotations

import re

from packaging.version import Version

from rocm3d.host.facts import MachineFacts, NotKnownError, Reading, parse_version, text_parameters
from rocm3d.model.condition import Condition


def kernel_older(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The kernel is older than a target needs. A separately installed driver has its own version and is not checked."""
    match = re.match(r"\d+(\.\d+)+", facts.snapshot.kernel)
    kernel = parse_version(match.group()) if match else None
    if kernel is None:
        raise NotKnownError("the version of the kernel is unknown")
    if facts.snapshot.driver:
        return None
    if re.search(r"\.el\d|-oem\b", facts.snapshot.kernel):
        raise NotKnownError(f"Linux {facts.snapshot.kernel} contains drivers of later kernels")
    needs = [(gfx, Version(least)) for gfx, least in (entry.split() for entry in text_parameters(condition, "least"))]
    unsupported = [(gfx, least) for gfx, least in needs if gfx in facts.targets and kernel < least]
    observations = tuple(
        f"Linux {facts.snapshot.kernel}, in-tree amdgpu; {gfx} needs {least}" for gfx, least in unsupported
    )
    return Reading(observations, {"least": str(max(least for _, least in unsupported))}) if unsupported else None


def booted_with(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A boot parameter disables the driver."""
    parameters = [parameter for parameter in facts.snapshot.boot if parameter in text_parameters(condition, "words")]
    return Reading((f"boot parameters: {' '.join(parameters)}",), {"word": parameters[0]}) if parameters else None


def balances_numa(facts: MachineFacts, _: Condition) -> Reading | None:
    """NUMA balancing is on, on a machine with several nodes."""
    processor = facts.snapshot.processor
    if not processor.numa_balancing:
        raise NotKnownError("the kernel does not report NUMA balancing")
    if processor.numa_nodes < 2 or processor.numa_balancing == "0":
        return None
    return Reading((f"numa_balancing is {processor.numa_balancing} on {processor.numa_nodes} nodes",))


def first_wsl(facts: MachineFacts, _: Condition) -> Reading | None:
    """The machine is WSL 1, which has no GPU access."""
    return Reading((f"Linux {facts.snapshot.kernel}: WSL 1",)) if facts.snapshot.wsl == "1" else None
