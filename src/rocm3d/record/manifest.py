"""The environment of a run: machine, GPU, packages with their origin, relevant variables, commit, kernel caches."""

from __future__ import annotations

import getpass
import json
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.errors import UserError
from rocm3d.model.run import InstalledPackage, Manifest
from rocm3d.model.variable import Variable
from rocm3d.record import redact
from rocm3d.workspace.copy_record import CopyRecord, read_copy_record
from rocm3d.workspace.git import head_commit, uncommitted_paths
from rocm3d.workspace.journal import UndoJournal

# Driver versions of both vendors.
DRIVERS = (Path("/sys/module/amdgpu/version"), Path("/sys/module/nvidia/version"))


def manifest(events: Iterable[Mapping[str, Any]], folder: Path, knowledge: Knowledge) -> Manifest:
    """Built from hook events of the process that used a GPU or torch, else of the first process."""
    all_events = list(events)
    started = [line for line in all_events if line.get("kind") == "process"]
    states = [line for line in all_events if line.get("kind") == "status"]
    state = max(states, key=lambda line: ("gpu" in line, "torch" in line), default={})
    process = next((line for line in started if line.get("pid") == state.get("pid")), next(iter(started), {}))
    copied = None if (folder / ".git").exists() else read_copy_record(folder)
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
        packages=_installed_packages(process.get("path", [])),
        variables=redact.variables(relevant_variables(os.environ, knowledge)),
        commit=(copied.commit if copied else head_commit(folder)) or "",
        dirty=_dirty(folder, copied),
    )


def _driver() -> str:
    for path in DRIVERS:
        try:
            return f"{path.parent.name} {path.read_text(encoding='ascii', errors='replace').strip()}"
        except OSError:
            continue
    return ""


def relevant_variables(environment: Mapping[str, str], knowledge: Knowledge) -> dict[str, str]:
    """Variables of the knowledge base, and those with the same prefix as one (HIP_, MIOPEN_)."""
    prefixes = tuple({f"{name.partition('_')[0]}_" for name in knowledge.variables})
    return {
        name: value for name, value in environment.items() if name.startswith(prefixes) or name in knowledge.variables
    }


def _installed_packages(path: list[str]) -> tuple[InstalledPackage, ...]:
    packages = {}
    for distribution in distributions(path=[entry for entry in path if entry]):
        name = distribution.metadata["Name"]
        if name and name not in packages:
            packages[name] = InstalledPackage(
                name=name, version=distribution.version or "", origin=redact.text(_origin(distribution))
            )
    return tuple(packages[name] for name in sorted(packages, key=str.lower))


def _origin(distribution: Distribution) -> str:
    try:
        direct_url = json.loads(distribution.read_text("direct_url.json") or "{}")
    except ValueError:
        return ""
    commit = direct_url.get("vcs_info", {}).get("commit_id", "")
    return f"{direct_url.get('url', '')}{'@' if commit else ''}{commit}"


def _dirty(folder: Path, copied: CopyRecord | None) -> tuple[str, ...] | None:
    """In a copy for a port, which has no data of git: what the port changed, and what was uncommitted before."""
    try:
        if copied is not None:
            return tuple(sorted({*copied.changed, *UndoJournal.open(folder).entries}))
        changed = uncommitted_paths(folder)
    except UserError:
        return None  # git refuses to read it: that must not cost the record of a run
    return None if changed is None else tuple(sorted(changed))


def cold_caches(knowledge: Knowledge) -> tuple[str, ...]:
    """Names of the variables whose cache folder is missing or empty."""
    caches = (variable for variable in knowledge.variables.values() if variable.cache)
    return tuple(sorted(variable.id for variable in caches if not _has_entries(cache_folder(variable, os.environ))))


def cache_folder(variable: Variable, environment: Mapping[str, str]) -> Path:
    """The cache folder that a variable sets, or the default of its record."""
    configured = environment.get(variable.id)
    # Not format(): other braces in the path stay literal.
    default = variable.cache.replace("{user}", getpass.getuser()).replace("{temp}", tempfile.gettempdir())
    return Path(configured or default).expanduser()


def _has_entries(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
