"""Lists torch, torchvision, torchaudio and triton of an environment, for install.sh of a port.

Run by the interpreter of that environment. Reads package metadata and torch/version.py and imports none of them.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module, metadata, util
from pathlib import Path

MODULES = ("torch", "torchvision", "torchaudio", "triton")
CUDA = re.compile(r"^nvidia-cu|(^|-)cu(da)?1\d")
NESTED = re.compile(r"\s*(-c|-r|--constraint|--requirement)[ =]\s*(?!/|\w+:)(\S+)")


def normalise(name: str) -> str:
    """Normalised name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_name(line: str) -> str:
    """Normalised name at the start of a requirement line; empty if there is none."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)", line)
    return normalise(match.group(1)) if match else ""


def installed_distributions() -> dict[str, metadata.Distribution]:
    """All distributions by normalised name."""
    return {normalise(dist.metadata["Name"]): dist for dist in metadata.distributions() if dist.metadata["Name"]}


def base_pins() -> dict[str, set[str]]:
    """Pins (name==version) of the distributions that contain each module: triton has several distribution names."""
    pins_by_module: dict[str, set[str]] = {module: set() for module in MODULES}
    for name, dist in installed_distributions().items():
        top_level = set((dist.read_text("top_level.txt") or "").split()) or {file.parts[0] for file in dist.files or ()}
        for module in MODULES:
            if name == module or module in top_level:
                pins_by_module[module].add(f"{name}=={dist.version}")
    return pins_by_module


def hip_version() -> str | None:
    """torch.version.hip, without importing torch."""
    spec = util.find_spec("torch")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        version = Path(folder, "version.py")
        if version.is_file():
            value = runpy.run_path(str(version)).get("hip")
            return None if value is None else str(value)
    return None


def base_state() -> dict[str, str]:
    """The state that no install step may change, including the list of CUDA packages."""
    versions = {module: " ".join(sorted(pins)) or "none" for module, pins in base_pins().items()}
    cuda = sorted(name for name in installed_distributions() if CUDA.search(name))
    return {**versions, "HIP": hip_version() or "none", "CUDA packages": " ".join(cuda) or "none"}


def changes(before: str) -> Iterator[str]:
    """Differences from an earlier state."""
    earlier = dict(line.split(": ", 1) for line in before.splitlines())
    for name, current in base_state().items():
        if earlier.get(name) != current:
            yield f"{name}: {earlier.get(name)} became {current}"


def constraint_lines(path: str, absent: str) -> Iterator[str]:
    """Lines of a file without base packages, then pins of the installed base; `absent` formats missing modules."""
    pins_by_module = base_pins()
    base_names = {*MODULES, *(requirement_name(pin) for module_pins in pins_by_module.values() for pin in module_pins)}
    for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
        nested = NESTED.match(line)
        if nested:
            yield f"{nested.group(1)} {Path(path).parent / nested.group(2)}"
        elif requirement_name(line) not in base_names:
            yield line
    for module, installed_pins in pins_by_module.items():
        yield from sorted(installed_pins)
        if all(requirement_name(pin) != module for pin in installed_pins):
            reason = (
                f"comes.as.{requirement_name(min(installed_pins)).replace('-', '.')}"
                if installed_pins
                else "not.in.the.base"
            )
            yield absent.format(name=module, why=reason)


def build_requirements(folder: str) -> Iterator[str]:
    """`shared` if the build of a source needs the installed torch, else `apart`; then missing build requirements."""
    requires = ["setuptools", "wheel"]
    project, setup = Path(folder, "pyproject.toml"), Path(folder, "setup.py")
    if project.is_file():
        toml = import_module("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli")
        table = toml.loads(project.read_text(encoding="utf-8")).get("build-system", {})
        requires = table.get("requires", requires)
    text = setup.read_text(encoding="utf-8", errors="replace") if setup.is_file() else ""
    names = {requirement_name(requirement) for requirement in requires}
    uses_torch = names & set(MODULES) or re.search(r"^\s*(import|from)\s+torch\b", text, re.MULTILINE)
    yield "shared" if uses_torch else "apart"
    distributions = installed_distributions()
    yield from (
        requirement
        for requirement in requires
        if requirement_name(requirement) not in MODULES and requirement_name(requirement) not in distributions
    )


def is_installed_from(folder: str) -> bool:
    url = Path(folder).as_uri()
    origins = (dist.read_text("direct_url.json") for dist in metadata.distributions())
    return any(json.loads(text).get("url", "").rstrip("/") == url for text in origins if text)


def installed_versions(names: Iterable[str]) -> Iterator[str]:
    """Installed ones of the named distributions, with their versions."""
    distributions = installed_distributions()
    yield from (f"{name} {distributions[name].version}" for name in map(normalise, names) if name in distributions)


def missing_requirements(requirements: Iterable[str]) -> Iterator[str]:
    """Requirements whose distribution is not installed in any version."""
    distributions = installed_distributions()
    yield from (requirement for requirement in requirements if requirement_name(requirement) not in distributions)


def missing_modules(modules: Iterable[str]) -> Iterator[str]:
    """Base modules that no distribution contains."""
    pins_by_module = base_pins()
    yield from (module for module in modules if not pins_by_module.get(module))


COMMANDS: dict[str, Callable[[list[str]], Iterable[str]]] = {
    "state": lambda _: (f"{name}: {value}" for name, value in base_state().items()),
    "changes": lambda args: changes(args[0]),
    "constraints": lambda args: constraint_lines(args[0], "{name}==0+{why}"),
    "overrides": lambda args: constraint_lines(args[0], "{name} ; sys_platform == 'never'"),
    "build": lambda args: build_requirements(args[0]),
    "from": lambda args: ["yes"] if is_installed_from(args[0]) else [],
    "there": installed_versions,
    "lacking": missing_requirements,
    "without": missing_modules,
    "address": lambda args: [Path(args[0]).as_uri()],
    "python": lambda _: [".".join(map(str, sys.version_info[:2]))],
}

if __name__ == "__main__":
    for answer in COMMANDS[sys.argv[1]](sys.argv[2:]):
        sys.stdout.write(f"{answer}\n")
