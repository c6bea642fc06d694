"""Conditions on the user's interpreter: torch, triton, other distributions, and ROCm."""

from __future__ import annotations

import fnmatch

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rocm3d.host.facts import Facts, Reading, shell, words
from rocm3d.model.condition import Condition


def _present(facts: Facts, patterns: tuple[str, ...]) -> list[str]:
    found = ((canonicalize_name(item.name), item.version) for item in facts.python.distributions)
    return [f"{name} {number}" for name, number in found if any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def _values(facts: Facts) -> dict[str, str]:
    return {"python": shell(facts.python.path), "install": _install(facts)}


def _install(facts: Facts) -> str:
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
    names = " ".join(shell(item.replace("{gfx}", facts.targets[0])) for item in chosen.requirements)
    wanted = f"  # in an environment with Python {chosen.python}" if chosen.python != facts.python.version else ""
    return f"{shell(facts.python.path)} -m pip install --index-url {chosen.index} {names}{wanted}"


def torch_for_cuda(facts: Facts, _: Condition) -> Reading | None:
    """The installed torch is a CUDA build."""
    python = facts.python
    if not python.torch or python.hip or not python.cuda:
        return None
    return Reading((f"{python.path}: torch {python.torch}, CUDA {python.cuda}, no HIP",), _values(facts))


def torch_for_cpu(facts: Facts, _: Condition) -> Reading | None:
    """The installed torch is a CPU build."""
    python = facts.python
    if not python.torch or python.hip or python.cuda:
        return None
    return Reading((f"{python.path}: torch {python.torch}, neither HIP nor CUDA",), _values(facts))


def present(facts: Facts, condition: Condition) -> Reading | None:
    """Unwanted distributions are installed, and none of the `unless` ones, which would explain them."""
    found = _present(facts, words(condition, "names"))
    if not found or _present(facts, words(condition, "unless")):
        return None
    return Reading(
        tuple(found), {"names": " ".join(item.split()[0] for item in found), "python": shell(facts.python.path)}
    )


def present_together(facts: Facts, condition: Condition) -> Reading | None:
    """Two distributions that contain the same module are installed."""
    ours, theirs = (_present(facts, words(condition, name)) for name in ("bundled", "other"))
    if not ours or not theirs:
        return None
    values = {
        "other": theirs[0].split()[0],
        "bundled": shell(ours[0].replace(" ", "==")),
        "python": shell(facts.python.path),
    }
    return Reading((*ours, *theirs), values)


def torch_rocm_lacks_target(facts: Facts, _: Condition) -> Reading | None:
    """The ROCm of the installed torch is outside the range that supports a target."""
    python, built = facts.python, facts.torch_rocm
    ranges = {gfx: facts.knowledge.targets[gfx].rocm for gfx in facts.targets if gfx in facts.knowledge.targets}
    if built is None:
        return None
    late = [gfx for gfx, needed in ranges.items() if needed and built not in SpecifierSet(needed, prereleases=True)]
    seen = tuple(f"torch {python.torch} is built for ROCm {built}; {gfx} needs {ranges[gfx]}" for gfx in late)
    return Reading(seen, _values(facts)) if late else None


def compiler_of_other_rocm(facts: Facts, _: Condition) -> Reading | None:
    """Every installed hipcc is of another major release than torch's libraries."""
    built, _python = facts.torch_rocm, facts.python
    compilers = [item for item in facts.snapshot.rocm if item.compiler and item.version]
    if built is None or not compilers:
        return None
    other = [item for item in compilers if item.version.partition(".")[0] != str(built.major)]
    if len(other) < len(compilers):
        return None
    seen = tuple(f"{item.path}: ROCm {item.version}" for item in other)
    return Reading((f"torch is built for ROCm {built}", *seen), {"rocm": str(built)})


def several_rocm(facts: Facts, _: Condition) -> Reading | None:
    """Several ROCm releases in /opt, and neither ROCM_PATH nor ROCM_HOME selects one."""
    found = [item for item in facts.snapshot.rocm if item.form == "system"]
    if len(found) < 2 or facts.variable("ROCM_PATH") or facts.variable("ROCM_HOME"):
        return None
    return Reading(tuple(f"{item.path}: ROCm {item.version}" for item in found), {"path": shell(found[-1].path)})


def own_runtime(facts: Facts, _: Condition) -> Reading | None:
    """torch contains an HSA runtime, which hides the one of the system."""
    python = facts.python
    if not python.own_runtime or not python.hip:
        return None
    return Reading(
        (f"{python.path}: torch {python.torch} has its own libhsa-runtime64.so",), {"python": shell(python.path)}
    )
