"""Conditions on the user's interpreter and ROCm, and those on the machine that follow from a plan."""

from __future__ import annotations

import fnmatch

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rocm3d.host.facts import MachineFacts, Reading, format_bytes, parse_version, shell_quote, text_parameters
from rocm3d.model.condition import Condition


def _installed(facts: MachineFacts, patterns: tuple[str, ...]) -> list[str]:
    distributions = (
        (canonicalize_name(distribution.name), distribution.version) for distribution in facts.python.distributions
    )
    return [f"{name} {number}" for name, number in distributions if any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def _values(facts: MachineFacts) -> dict[str, str]:
    return {"python": shell_quote(facts.python.path), "install": _install_command(facts)}


def _install_command(facts: MachineFacts) -> str:
    """Command that installs a torch for the GPU: from the plan's stack, else from the newest tried one with wheels."""
    planned = facts.plan.base if facts.plan else None
    wheels = [
        stack
        for stack in ((planned,) if planned else facts.knowledge.stacks.values())
        if stack.index
        and stack.requirements
        and facts.platform in stack.platforms
        and set(facts.targets) & set(stack.gfx)
    ]
    fitting = [stack for stack in wheels if stack.python == facts.python.version] or wheels
    if not fitting:
        image = f"use the image {planned.image}" if planned and planned.image else "find a stack: `rocm3d plan PATH`"
        return f"no known wheels for this machine; {image}"
    chosen = max(fitting, key=lambda stack: (stack.tried, stack.released, stack.id))
    names = " ".join(shell_quote(requirement.replace("{gfx}", facts.targets[0])) for requirement in chosen.requirements)
    comment = f"  # in an environment with Python {chosen.python}" if chosen.python != facts.python.version else ""
    return f"{shell_quote(facts.python.path)} -m pip install --index-url {chosen.index} {names}{comment}"


def torch_for_cuda(facts: MachineFacts, _: Condition) -> Reading | None:
    """The installed torch is a CUDA build."""
    python = facts.python
    if not python.torch or python.hip or not python.cuda:
        return None
    return Reading((f"{python.path}: torch {python.torch}, CUDA {python.cuda}, no HIP",), _values(facts))


def torch_for_cpu(facts: MachineFacts, _: Condition) -> Reading | None:
    """The installed torch is a CPU build."""
    python = facts.python
    if not python.torch or python.hip or python.cuda:
        return None
    return Reading((f"{python.path}: torch {python.torch}, neither HIP nor CUDA",), _values(facts))


def present(facts: MachineFacts, condition: Condition) -> Reading | None:
    """Unwanted distributions are installed, and none of the `unless` ones, which would explain them."""
    installed = _installed(facts, text_parameters(condition, "names"))
    if not installed or _installed(facts, text_parameters(condition, "unless")):
        return None
    return Reading(
        tuple(installed),
        {"names": " ".join(entry.split()[0] for entry in installed), "python": shell_quote(facts.python.path)},
    )


def present_together(facts: MachineFacts, condition: Condition) -> Reading | None:
    """Two distributions that contain the same module are installed."""
    ours, theirs = (_installed(facts, text_parameters(condition, name)) for name in ("bundled", "other"))
    if not ours or not theirs:
        return None
    values = {
        "other": theirs[0].split()[0],
        "bundled": shell_quote(ours[0].replace(" ", "==")),
        "python": shell_quote(facts.python.path),
    }
    return Reading((*ours, *theirs), values)


def torch_rocm_lacks_target(facts: MachineFacts, _: Condition) -> Reading | None:
    """The ROCm of the installed torch is outside the range that supports a target."""
    python, built = facts.python, facts.torch_rocm
    ranges = {gfx: facts.knowledge.targets[gfx].rocm for gfx in facts.targets if gfx in facts.knowledge.targets}
    if built is None:
        return None
    unsupported = [
        gfx for gfx, needed in ranges.items() if needed and built not in SpecifierSet(needed, prereleases=True)
    ]
    observations = tuple(
        f"torch {python.torch} is built for ROCm {built}; {gfx} needs {ranges[gfx]}" for gfx in unsupported
    )
    return Reading(observations, _values(facts)) if unsupported else None


def compiler_of_other_rocm(facts: MachineFacts, _: Condition) -> Reading | None:
    """Every installed hipcc is of another major release than torch's libraries."""
    built, _python = facts.torch_rocm, facts.python
    compilers = [install for install in facts.snapshot.rocm if install.compiler and install.version]
    if built is None or not compilers:
        return None
    other = [install for install in compilers if install.version.partition(".")[0] != str(built.major)]
    if len(other) < len(compilers):
        return None
    observations = tuple(f"{install.path}: ROCm {install.version}" for install in other)
    return Reading((f"torch is built for ROCm {built}", *observations), {"rocm": str(built)})


def several_rocm(facts: MachineFacts, _: Condition) -> Reading | None:
    """Several ROCm releases in /opt, and neither ROCM_PATH nor ROCM_HOME selects one."""
    installs = [install for install in facts.snapshot.rocm if install.form == "system"]
    if len(installs) < 2 or facts.variable("ROCM_PATH") or facts.variable("ROCM_HOME"):
        return None
    return Reading(
        tuple(f"{install.path}: ROCm {install.version}" for install in installs),
        {"path": shell_quote(installs[-1].path)},
    )


def own_runtime(facts: MachineFacts, _: Condition) -> Reading | None:
    """torch contains an HSA runtime, which hides the one of the system."""
    python = facts.python
    if not python.own_runtime or not python.hip:
        return None
    return Reading(
        (f"{python.path}: torch {python.torch} has its own libhsa-runtime64.so",), {"python": shell_quote(python.path)}
    )


def target_absent(facts: MachineFacts, _: Condition) -> Reading | None:
    """The plan is for a GPU that is not in this machine."""
    machine_targets = sorted({card.gfx for card in facts.snapshot.gpus if card.gfx})
    if facts.plan is None or not machine_targets or facts.plan.gpu.gfx in machine_targets:
        return None
    return Reading(
        (f"the plan is for {facts.plan.gpu.gfx}", f"machine: {', '.join(machine_targets)}"),
        {"gfx": machine_targets[-1]},
    )


def torch_differs(facts: MachineFacts, _: Condition) -> Reading | None:
    """The installed torch has another release, or another ROCm, than the stack of the plan."""
    python, base = facts.python, facts.plan.base if facts.plan else None
    if base is None or not python.hip:
        return None
    torch_rocm, torch = facts.torch_rocm, facts.torch
    planned_torch, planned_rocm = parse_version(base.torch), parse_version(base.rocm)
    same_torch = torch is not None and planned_torch is not None and torch.release[:2] == planned_torch.release[:2]
    same_rocm = (
        torch_rocm is not None and planned_rocm is not None and torch_rocm.release[:2] == planned_rocm.release[:2]
    )
    if same_torch and same_rocm:
        return None
    observations = (
        f"installed: torch {python.torch}, HIP {python.hip}",
        f"planned: torch {base.torch}, ROCm {base.rocm}",
    )
    return Reading(observations, {"stack": base.id})


def python_differs(facts: MachineFacts, _: Condition) -> Reading | None:
    """The interpreter has another version than the stack of the plan, so its wheels cannot be installed."""
    base = facts.plan.base if facts.plan else None
    if base is None or facts.python.version == base.python:
        return None
    observation = f"{facts.python.path} is Python {facts.python.version}; {base.id} is for {base.python}"
    return Reading((observation,), {"python": base.python})


def no_compiler(facts: MachineFacts, _: Condition) -> Reading | None:
    """The plan compiles, and no installed ROCm has a compiler."""
    if not facts.builds or any(install.compiler for install in facts.snapshot.rocm):
        return None
    installs = [f"{install.form} {install.path}: no compiler" for install in facts.snapshot.rocm] or [
        "no ROCm is installed"
    ]
    return Reading((*installs, f"the plan compiles {', '.join(facts.builds[:6])}"))


def little_vram(facts: MachineFacts, _: Condition) -> Reading | None:
    """Even the smallest mode of a known repository needs more VRAM than any card of the plan's target has."""
    plan = facts.plan
    port = facts.knowledge.ports.get(plan.known_as) if plan and plan.known_as else None
    needs = [mode.gb for mode in port.memory] if port else []
    cards = [card.vram_bytes for card in facts.cards if card.gfx in facts.targets and card.vram_bytes]
    if not needs or not cards or max(cards) >= min(needs) * 1e9:
        return None
    known = port.id if port else ""
    return Reading((f"{known} needs at least {min(needs):g} GB", f"the largest card has {format_bytes(max(cards))}"))
