"""Checks in a child process whether the original package works: installed files may fail to load.

The result is cached by the digest of the package's files, the interpreter, torch, Triton, driver and GPUs. A failure of
the moment, such as a GPU without free memory, is not cached: neither here nor in the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from rocm3d_kernels.cache_file import read_entry, write_entry
from rocm3d_kernels.dropin import machine
from rocm3d_kernels.dropin.declaration import DropIn
from rocm3d_kernels.transient import SIGNALS, is_transient_text

TIMEOUT = 300  # seconds
SUFFIXES = (".py", ".so", ".pyd")
MAX_REASON = 300  # characters
# Of the child's error output; the traceback of an error ends it.
MAX_TRACEBACK = 20_000


@dataclass(frozen=True)
class ProbeResult:
    """Whether the original package works; `reason` is the last line of its error if not.

    `transient`: the failure may be gone at the next probe.
    """

    works: bool
    reason: str
    transient: bool = False


def probe_original(drop_in: DropIn) -> ProbeResult:
    """The result of the child process, or the cached result for the same files on the same machine."""
    files = installed_files(drop_in.name)
    if not files:
        return ProbeResult(works=False, reason="not installed")
    key = digest(drop_in, files)
    folder = _cache_folder()
    cached = None if folder is None else _cached_result(folder / f"{key}.json", key)
    if cached is not None:
        return cached
    result = run_probe(drop_in)
    if folder is not None and not result.transient:
        # If it cannot be written, the next process probes again.
        write_entry(folder / f"{key}.json", {"key": key, "works": result.works, "reason": result.reason})
    return result


def _cached_result(cache_file: Path, key: str) -> ProbeResult | None:
    entry = read_entry(cache_file)
    if entry is None or set(entry) != {"key", "works", "reason"} or entry["key"] != key:
        return None
    works, reason = entry["works"], entry["reason"]
    if not isinstance(works, bool) or not isinstance(reason, str) or reason != _one_line(reason):
        return None
    return ProbeResult(works=works, reason=reason)


def installed_files(name: str) -> list[Path]:
    """Code files of the package on sys.path; it may be a namespace package or a single module."""
    spec = PathFinder.find_spec(name.partition(".")[0])
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.origin else []
    return sorted(
        Path(folder) / file
        for location in spec.submodule_search_locations
        for folder, _, files in os.walk(location)
        for file in files
        if file.endswith(SUFFIXES)
    )


def digest(drop_in: DropIn, files: list[Path]) -> str:
    """Digest of the files, the probe code, and everything else on this machine that the result depends on."""
    total = hashlib.sha256(f"{drop_in.probe_code}\0{machine.stamp()}\0".encode(errors="surrogateescape"))
    for file in files:
        total.update(f"{file}\0".encode(errors="surrogateescape"))
        try:
            # Only a regular file: reading a FIFO would wait for ever.
            total.update(file.read_bytes() if stat.S_ISREG(file.stat().st_mode) else b"not a file")
        except OSError:
            total.update(b"unreadable")
    return total.hexdigest()


def run_probe(drop_in: DropIn) -> ProbeResult:
    """Runs the probe code in a child process with our search path and without drop-ins."""
    environment = {**os.environ, "ROCM3D_DROPIN": "0"}
    environment.pop("ROCM3D_RECORD", None)
    program = f"import sys\nsys.path[:] = {sys.path!r}\n{drop_in.probe_code}\n"
    try:
        code, errors = _run_child([sys.executable, "-c", program], environment)
    except subprocess.TimeoutExpired:
        reason = f"the probe took more than {TIMEOUT} seconds (TimeoutExpired)"
        return ProbeResult(works=False, reason=reason, transient=True)
    except OSError as error:
        # The child process did not start, which says nothing about the package.
        reason = _one_line(f"{type(error).__name__} while probing the package: {error}")
        return ProbeResult(works=False, reason=reason, transient=True)
    if code == 0:
        return ProbeResult(works=True, reason="the original package works")
    reason = _one_line((errors.strip().splitlines() or [f"exit code {code}"])[-1])
    return ProbeResult(works=False, reason=reason, transient=-code in SIGNALS or is_transient_text(errors))


def _run_child(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and the end of the error output; whatever ends the wait also ends the processes that it started."""
    child = subprocess.Popen(  # noqa: S603
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    with child:
        try:
            _, errors = child.communicate(timeout=TIMEOUT)
        except BaseException:
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
            raise
    return child.returncode, errors[-MAX_TRACEBACK:].decode(errors="replace")


def _one_line(text: str) -> str:
    """At most 300 characters, without those that control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)[:MAX_REASON]


def _cache_folder() -> Path | None:
    """None if the user has no home folder."""
    configured = os.environ.get("ROCM3D_CACHE", "")
    if configured:
        return Path(configured) / "dropin"
    # The specification says to ignore a relative path: it would lie in whatever folder the program runs in.
    caches = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(caches) if Path(caches).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return folder / "rocm3d-kernels" / "dropin"
