"""What an environment holds of torch, torchvision, torchaudio and triton, for install.sh of a port.

Run by the interpreter that is installed into. It reads metadata and torch/version.py and imports nothing of them.
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
    """A distribution's name in its normal spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_in(line: str) -> str:
    """The name that a requirement begins with."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)", line)
    return plain(match.group(1)) if match else ""


def installed() -> dict[str, metadata.Distribution]:
    """Every distribution by its name."""
    return {plain(dist.metadata["Name"]): dist for dist in metadata.distributions() if dist.metadata["Name"]}


def held() -> dict[str, set[str]]:
    """Which distributions bring each module, with their versions: triton has gone by several names."""
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
    """What no step may change. CUDA packages by name belong to it: none may come in."""
    found = {module: " ".join(sorted(pins)) or "none" for module, pins in held().items()}
    cuda = sorted(name for name in installed() if CUDA.search(name))
    return {**found, "HIP": hip() or "none", "CUDA packages": " ".join(cuda) or "none"}


def changes(before: str) -> Iterator[str]:
    """How the state differs from an earlier one."""
    was = dict(line.split(": ", 1) for line in before.splitlines())
    for name, now in state().items():
        if was.get(name) != now:
            yield f"{name}: {was.get(name)} became {now}"


def pins(path: str, absent: str) -> Iterator[str]:
    """The lines of a file that are not about the base, then the base as it is here; `absent` is for what it lacks."""
    found = held()
    ours = {*MODULES, *(name_in(pin) for given in found.values() for pin in given)}
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
    """Whether a source needs the torch that is here to build, and what else it needs that is not here."""
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
    """Whether something is installed from this folder."""
    wanted = Path(folder).as_uri()
    origins = (dist.read_text("direct_url.json") for dist in metadata.distributions())
    return any(json.loads(text).get("url", "").rstrip("/") == wanted for text in origins if text)


def there(names: Iterable[str]) -> Iterator[str]:
    """Those of the distributions that are installed, with their versions."""
    here = installed()
    yield from (f"{name} {here[name].version}" for name in map(plain, names) if name in here)


def lacking(requirements: Iterable[str]) -> Iterator[str]:
    """Those of the requirements whose distribution is not installed, whatever its version."""
    here = installed()
    yield from (item for item in requirements if name_in(item) not in here)


def without(modules: Iterable[str]) -> Iterator[str]:
    """Those of the base's modules that nothing brings."""
    found = held()
    yield from (module for module in modules if not found.get(module))


ANSWERS: dict[str, Callable[[list[str]], Iterable[str]]] = {
    "state": lambda _: (f"{name}: {value}" for name, value in state().items()),
    "changes": lambda given: changes(given[0]),
    "constraints": lambda given: pins(given[0], "{name}==0+{why}"),
    "overrides": lambda given: pins(given[0], "{name} ; sys_platform == 'never'"),
    "build": lambda given: build(given[0]),
    "from": lambda given: ["yes"] if is_from(given[0]) else [],
    "there": there,
    "lacking": lacking,
    "without": without,
    "address": lambda given: [Path(given[0]).as_uri()],
    "python": lambda _: [".".join(map(str, sys.version_info[:2]))],
}

if __name__ == "__main__":
    for answer in ANSWERS[sys.argv[1]](sys.argv[2:]):
        sys.stdout.write(f"{answer}\n")
