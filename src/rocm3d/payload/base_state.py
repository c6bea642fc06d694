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


def plain(name: str) -> str:
    """Normalised name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_in(line: str) -> str:
    """Normalised name at the start of a requirement line; empty if there is none."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)", line)
    return plain(match.group(1)) if match else ""


def installed() -> dict[str, metadata.Distribution]:
    """All distributions by normalised name."""
    return {plain(dist.metadata["Name"]): dist for dist in metadata.distributions() if dist.metadata["Name"]}


def held() -> dict[str, set[str]]:
    """Pins (name==version) of the distributions that contain each module: triton has several distribution names."""
    found: dict[str, set[str]] = {module: set() for module in MODULES}
    for name, dist in installed().items():
        tops = set((dist.read_text("top_level.txt") or "").split()) or {file.parts[0] for file in dist.files or ()}
        for module in MODULES:
            if name == module or module in tops:
                found[module].add(f"{name}=={dist.version}")
    return found


def hip() -> str | None:
    """torch.version.hip, without importing torch."""
    spec = util.find_spec("torch")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        version = Path(folder, "version.py")
        if version.is_file():
            found = runpy.run_path(str(version)).get("hip")
            return None if found is None else str(found)
    return None


def state() -> dict[str, str]:
    """The state that no install step may change, including the list of CUDA packages."""
    found = {module: " ".join(sorted(pins)) or "none" for module, pins in held().items()}
    cuda = sorted(name for name in installed() if CUDA.search(name))
    return {**found, "HIP": hip() or "none", "CUDA packages": " ".join(cuda) or "none"}


def changes(before: str) -> Iterator[str]:
    """Differences from an earlier state."""
    was = dict(line.split(": ", 1) for line in before.splitlines())
    for name, now in state().items():
        if was.get(name) != now:
            yield f"{name}: {was.get(name)} became {now}"


def pins(path: str, absent: str) -> Iterator[str]:
    """Lines of a file without base packages, then pins of the installed base; `absent` formats missing modules."""
    found = held()
    ours = {*MODULES, *(name_in(pin) for module_pins in found.values() for pin in module_pins)}
    for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
        nested = NESTED.match(line)
        if nested:
            yield f"{nested.group(1)} {Path(path).parent / nested.group(2)}"
        elif name_in(line) not in ours:
            yield line
    for module, given in found.items():
        yield from sorted(given)
        if all(name_in(pin) != module for pin in given):
            other = f"comes.as.{name_in(min(given)).replace('-', '.')}" if given else "not.in.the.base"
            yield absent.format(name=module, why=other)


def build(folder: str) -> Iterator[str]:
    """`shared` if the build of a source needs the installed torch, else `apart`; then missing build requirements."""
    requires = ["setuptools", "wheel"]
    project, setup = Path(folder, "pyproject.toml"), Path(folder, "setup.py")
    if project.is_file():
        toml = import_module("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli")
        table = toml.loads(project.read_text(encoding="utf-8")).get("build-system", {})
        requires = table.get("requires", requires)
    text = setup.read_text(encoding="utf-8", errors="replace") if setup.is_file() else ""
    names = {name_in(item) for item in requires}
    uses_torch = names & set(MODULES) or re.search(r"^\s*(import|from)\s+torch\b", text, re.MULTILINE)
    yield "shared" if uses_torch else "apart"
    here = installed()
    yield from (item for item in requires if name_in(item) not in MODULES and name_in(item) not in here)


def is_from(folder: str) -> bool:
    """Whether a distribution is installed from this folder."""
    wanted = Path(folder).as_uri()
    origins = (dist.read_text("direct_url.json") for dist in metadata.distributions())
    return any(json.loads(text).get("url", "").rstrip("/") == wanted for text in origins if text)


def there(names: Iterable[str]) -> Iterator[str]:
    """Installed ones of the named distributions, with their versions."""
    here = installed()
    yield from (f"{name} {here[name].version}" for name in map(plain, names) if name in here)


def lacking(requirements: Iterable[str]) -> Iterator[str]:
    """Requirements whose distribution is not installed in any version."""
    here = installed()
    yield from (item for item in requirements if name_in(item) not in here)


def without(modules: Iterable[str]) -> Iterator[str]:
    """Base modules that no distribution contains."""
    found = held()
    yield from (module for module in modules if not found.get(module))


ANSWERS: dict[str, Callable[[list[str]], Iterable[str]]] = {
    "state": lambda _: (f"{name}: {value}" for name, value in state().items()),
    "changes": lambda args: changes(args[0]),
    "constraints": lambda args: pins(args[0], "{name}==0+{why}"),
    "overrides": lambda args: pins(args[0], "{name} ; sys_platform == 'never'"),
    "build": lambda args: build(args[0]),
    "from": lambda args: ["yes"] if is_from(args[0]) else [],
    "there": there,
    "lacking": lacking,
    "without": without,
    "address": lambda args: [Path(args[0]).as_uri()],
    "python": lambda _: [".".join(map(str, sys.version_info[:2]))],
}

if __name__ == "__main__":
    for answer in ANSWERS[sys.argv[1]](sys.argv[2:]):
        sys.stdout.write(f"{answer}\n")
