"""Checks in a child process whether the original package works: installed files may fail to load.

The result is cached by the digest of the package's files, the interpreter and the installed torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from rocm3d_kernels.dropin.declaration import DropIn

TIMEOUT = 300  # seconds
SUFFIXES = (".py", ".so", ".pyd")


@dataclass(frozen=True)
class ProbeResult:
    """Whether the original package works; `reason` is the last line of its error if not."""

    works: bool
    reason: str


def probe_original(drop_in: DropIn) -> ProbeResult:
    """The result of the child process, or the cached result for the same files."""
    files = installed_files(drop_in.name)
    if not files:
        return ProbeResult(works=False, reason="not installed")
    cache_file = _cache_folder() / f"{digest(drop_in, files)}.json"
    try:
        cached = json.loads(cache_file.read_text(encoding="utf-8"))
        return ProbeResult(works=bool(cached["works"]), reason=str(cached["reason"]))
    except (OSError, ValueError, KeyError, TypeError):
        result = run_probe(drop_in)
    try:
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        scratch = cache_file.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps({"works": result.works, "reason": result.reason}), encoding="utf-8")
        scratch.replace(cache_file)
    except OSError:
        pass  # the next process checks again
    return result


def installed_files(name: str) -> list[Path]:
    """Code files of the package on sys.path; it may be a namespace package or a single module."""
    spec = PathFinder.find_spec(name.partition(".")[0])
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.origin else []
    folders = [Path(location) for location in spec.submodule_search_locations]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES)


def digest(drop_in: DropIn, files: list[Path]) -> str:
    """Digest of the files, the probe code, the interpreter and torch."""
    total = hashlib.sha256(f"{drop_in.probe_code}\0{sys.executable}\0{sys.version}\0{_torch_stamp()}\0".encode())
    for file in files:
        total.update(f"{file}\0".encode(errors="surrogateescape"))
        try:
            total.update(file.read_bytes())
        except OSError:
            total.update(b"unreadable")
    return total.hexdigest()


def run_probe(drop_in: DropIn) -> ProbeResult:
    """Runs the probe code in a child process with our search path and without drop-ins."""
    environment = {**os.environ, "ROCM3D_DROPIN": "0"}
    environment.pop("ROCM3D_RECORD", None)
    program = f"import sys\nsys.path[:] = {sys.path!r}\n{drop_in.probe_code}\n"
    command = [sys.executable, "-c", program]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False, env=environment,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return ProbeResult(works=False, reason=f"{type(error).__name__} while probing the package")
    if done.returncode == 0:
        return ProbeResult(works=True, reason="the original package works")
    last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return ProbeResult(works=False, reason=last[:300])


def _cache_folder() -> Path:
    configured = os.environ.get("ROCM3D_CACHE")
    if configured:
        return Path(configured) / "dropin"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocm3d-kernels" / "dropin"


def _torch_stamp() -> str:
    """Changes when another torch is installed."""
    spec = PathFinder.find_spec("torch")
    if spec is None or not spec.origin:
        return sysconfig.get_platform()
    try:
        status = Path(spec.origin).with_name("version.py").stat()
    except OSError:
        return spec.origin
    return f"{spec.origin} {status.st_size} {status.st_mtime_ns}"
