"""Does the real package work here? Found files may still not load, so a child process tries, and the answer is kept.

The answer is kept by the digest of the files that were found, with the interpreter and torch beside them.
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

from rocm3d_kernels.dropin.stand_in import StandIn

LIMIT = 300
SUFFIXES = (".py", ".so", ".pyd")


@dataclass(frozen=True)
class Answer:
    """Whether it works, and if not the last thing that it said."""

    works: bool
    reason: str


def real(stand_in: StandIn) -> Answer:
    """What the child says, or said of the same files before."""
    files = found_files(stand_in.name)
    if not files:
        return Answer(works=False, reason="not installed")
    place = _cache() / f"{digest(stand_in, files)}.json"
    try:
        kept = json.loads(place.read_text(encoding="utf-8"))
        return Answer(works=bool(kept["works"]), reason=str(kept["reason"]))
    except (OSError, ValueError, KeyError, TypeError):
        answer = tried(stand_in)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = place.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps({"works": answer.works, "reason": answer.reason}), encoding="utf-8")
        scratch.replace(place)
    except OSError:
        pass  # asked again next time
    return answer


def found_files(name: str) -> list[Path]:
    """Code of the package on sys.path, also where it is only a folder, or one module."""
    spec = PathFinder.find_spec(name.partition(".")[0])
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.origin else []
    folders = [Path(place) for place in spec.submodule_search_locations]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES)


def digest(stand_in: StandIn, files: list[Path]) -> str:
    """Of the files, the question and who asks."""
    total = hashlib.sha256(f"{stand_in.proof}\0{sys.executable}\0{sys.version}\0{_torch_stamp()}\0".encode())
    for file in files:
        total.update(f"{file}\0".encode(errors="surrogateescape"))
        try:
            total.update(file.read_bytes())
        except OSError:
            total.update(b"unreadable")
    return total.hexdigest()


def tried(stand_in: StandIn) -> Answer:
    """A real import in a child with our search path and no stand-in."""
    environment = {**os.environ, "ROCM3D_DROPIN": "0"}
    environment.pop("ROCM3D_RECORD", None)
    program = f"import sys\nsys.path[:] = {sys.path!r}\n{stand_in.proof}\n"
    command = [sys.executable, "-c", program]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False, env=environment,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Answer(works=False, reason=f"{type(error).__name__} while it was tried")
    if done.returncode == 0:
        return Answer(works=True, reason="it loads")
    last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    return Answer(works=False, reason=last[:300])


def _cache() -> Path:
    named = os.environ.get("ROCM3D_CACHE")
    if named:
        return Path(named) / "dropin"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocm3d-kernels" / "dropin"


def _torch_stamp() -> str:
    """Changes when another torch is installed."""
    spec = PathFinder.find_spec("torch")
    if spec is None or not spec.origin:
        return sysconfig.get_platform()
    try:
        about = Path(spec.origin).with_name("version.py").stat()
    except OSError:
        return spec.origin
    return f"{spec.origin} {about.st_size} {about.st_mtime_ns}"
