"""The environment of a run: machine, GPU, packages with their origin, relevant variables, commit."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.model.run import InstalledPackage, Manifest
from rocm3d.record import redact
from rocm3d.workspace.git import head_commit, uncommitted_paths

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge

# Driver versions of both vendors.
DRIVERS = (Path("/sys/module/amdgpu/version"), Path("/sys/module/nvidia/version"))


def manifest(lines: Iterable[Mapping[str, Any]], folder: Path, knowledge: Knowledge) -> Manifest:
    """Built from hook events of the process that used a GPU or torch, else of the first process."""
    told = list(lines)
    started = [line for line in told if line.get("kind") == "process"]
    states = [line for line in told if line.get("kind") == "status"]
    state = max(states, key=lambda line: ("gpu" in line, "torch" in line), default={})
    process = next((line for line in started if line.get("pid") == state.get("pid")), next(iter(started), {}))
    return Manifest(
        machine=f"{platform.system()} {platform.release()} {platform.machine()}",
        gpu=state.get("gpu", ""),
        gfx=state.get("gfx", ""),
        gpu_bytes=state.get("gpu_bytes", 0),
        driver=_driver(),
        rocm=state.get("hip", ""),
        cuda=state.get("cuda", ""),
        torch=state.get("torch", ""),
        python=process.get("python", ""),
        interpreter=process.get("executable", ""),
        packages=_packages(process.get("path", [])),
        variables=redact.variables(deciding(os.environ, knowledge)),
        commit=head_commit(folder) or "",
        dirty=_dirty(folder),
    )


def _driver() -> str:
    for path in DRIVERS:
        try:
            return f"{path.parent.name} {path.read_text(encoding='ascii', errors='replace').strip()}"
        except OSError:
            continue
    return ""


def deciding(given: Mapping[str, str], knowledge: Knowledge) -> dict[str, str]:
    """Variables of the knowledge base, and those with the same prefix as one (HIP_, MIOPEN_)."""
    families = tuple({f"{name.partition('_')[0]}_" for name in knowledge.variables})
    return {name: value for name, value in given.items() if name.startswith(families) or name in knowledge.variables}


def _packages(path: list[str]) -> tuple[InstalledPackage, ...]:
    found = {}
    for item in distributions(path=[entry for entry in path if entry]):
        name = item.metadata["Name"]
        if name and name not in found:
            found[name] = InstalledPackage(name=name, version=item.version or "", origin=redact.text(_origin(item)))
    return tuple(found[name] for name in sorted(found, key=str.lower))


def _origin(item: Distribution) -> str:
    try:
        said = json.loads(item.read_text("direct_url.json") or "{}")
    except ValueError:
        return ""
    commit = said.get("vcs_info", {}).get("commit_id", "")
    return f"{said.get('url', '')}{'@' if commit else ''}{commit}"


def _dirty(folder: Path) -> tuple[str, ...] | None:
    changed = uncommitted_paths(folder)
    return None if changed is None else tuple(sorted(changed))
