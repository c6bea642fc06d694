"""Runs programs of a repository, and compilers on its code, in bubblewrap: no network, nothing writable but a folder.

Inside are the system's programs and libraries, an interpreter, and the folders that the caller names; everything else,
such as the user's home, does not exist. See docs/decisions/0031 and docs/security.md.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import DEFAULT_BYTES, DEFAULT_SECONDS, Finished, Limits, remove_folder, run
from rocm3d.workspace.programs import find_program, path_steps
from rocm3d.workspace.state import data_path

PROGRAM = "bwrap"
_PACKAGE = Path(__file__).parents[1]
# What programs need of the system. Nothing else of /etc is visible: it may hold keys that root can read.
_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
    "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
)  # fmt: skip
_OWN_FOLDERS = (_PACKAGE / "payload", _PACKAGE / "toolchain" / "headers")
# The parts of an interpreter's prefix: the prefix itself may be a home folder.
_INTERPRETER_PARTS = ("bin", "lib", "lib64", "include", "pyvenv.cfg")
_OPTIONS = (
    "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
    "--die-with-parent", "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
# Read-only, because files of root in /proc/sys can be written by root without any capability.
_VIRTUAL = ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
_BASE_TASKS, _TASKS_PER_CORE = 512, 8
_MAX_MEMORY_BYTES, _MAX_FILE_BYTES, _FREE_BYTES = 16 << 30, 1 << 30, 1 << 30
_PATH = "/usr/local/bin:/usr/bin:/bin"


@cache
def unavailable_reason() -> str:
    """Why no sandbox works on this machine; empty if one does. Tried once."""
    if sys.platform != "linux":
        return "bubblewrap needs Linux"
    if find_program(PROGRAM) is None:
        return f"{PROGRAM} is not installed (Debian package bubblewrap)"
    try:
        _namespace_options()
    except MachineError as error:
        return error.message
    return ""


@cache
def _namespace_options() -> tuple[str, ...]:
    """The options that create the namespaces; releases before 0.8 cannot disable nested ones."""
    errors: list[str] = []
    for more in (("--disable-userns",), ()):
        options = (*_OPTIONS, *more)
        with tempfile.TemporaryDirectory(prefix="rocm3d-") as folder:
            probe = Sandbox(Path(folder), options=options).run([sys.executable, "-I", "-S", "-c", ""])
        if probe.code == 0:
            return options
        errors = probe.stderr.decode(errors="replace").strip().splitlines() or [probe.exceeded or "it does not start"]
    raise MachineError(f"{PROGRAM} does not work on this machine: {errors[-1].removeprefix(f'{PROGRAM}: ')}")


@dataclass(frozen=True)
class Sandbox:
    """`folder`: for temporary files, not visible inside. `readable`: paths that are visible besides the system's."""

    folder: Path
    readable: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()

    def run(  # noqa: PLR0913  (all options of a program)
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        variables: Mapping[str, str] | None = None,
        seconds: float = DEFAULT_SECONDS,
        keep_bytes: int = DEFAULT_BYTES,
    ) -> Finished:
        """Run a program until it ends or exceeds a limit. Nothing of it is left but what it wrote to `writable`.

        That may be links, pipes and anything else: read it with `read_regular`. The environment is PATH, HOME, TMPDIR,
        LANG and `variables` only; HOME and TMPDIR are /tmp, an empty folder of this run.
        """
        program = find_program(PROGRAM)
        if program is None:
            raise MachineError(f"{PROGRAM} is not installed")
        temporary = Path(tempfile.mkdtemp(prefix="tmp-", dir=self.folder))
        env = {"PATH": f"{Path(sys.executable).parent}:{_PATH}", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
        env |= variables or {}
        try:
            words = [program, *(self.options or _namespace_options()), *_VIRTUAL]
            words += _mount_options((*self._visible, *readable), writable, temporary)
            return run(
                [*words, "--chdir", str(cwd or "/"), "--", *command],
                cwd=Path("/"), env=env, seconds=seconds, keep_bytes=keep_bytes, contained=True, limits=self._limits(),
            )  # fmt: skip
        finally:
            remove_folder(temporary)

    @property
    def _visible(self) -> tuple[Path, ...]:
        return (*map(Path, _SYSTEM), *_OWN_FOLDERS, *interpreter_paths(Path(sys.executable)), *self.readable)

    def shows(self, path: Path) -> bool:
        """Whether programs inside can read this path, which has no links, in all runs."""
        return any(path.is_relative_to(root.resolve()) for root in self._visible)

    def _limits(self) -> Limits:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        return Limits(
            tasks=_BASE_TASKS + _TASKS_PER_CORE * (os.cpu_count() or 1),
            memory_bytes=min(_MAX_MEMORY_BYTES, memory),
            file_bytes=_MAX_FILE_BYTES,
            folder=self.folder,
            free_bytes=min(_FREE_BYTES, shutil.disk_usage(self.folder).free // 2),
        )


def interpreter_paths(interpreter: Path) -> tuple[Path, ...]:
    """What an interpreter needs to start and to import its packages: of its environment and of its base."""
    prefixes = (interpreter.absolute().parents[1], interpreter.resolve().parents[1])
    parts = (prefix / name for prefix in prefixes if prefix != Path("/") for name in _INTERPRETER_PARTS)
    return (interpreter.absolute(), *(path for path in parts if path.exists()))


def program_paths(program: Path) -> tuple[Path, ...]:
    """The folder that a program was installed to: with its libraries, if it is in a folder bin."""
    paths = []
    for path in (program.absolute(), program.resolve()):
        folder = path.parent
        libraries = [folder.parent / name for name in ("lib", "lib64", "include", "share", "nvvm", "libexec")]
        paths += [path, folder, *(libraries if folder.name == "bin" else [])]
    return tuple(path for path in paths if path.exists())


def _mount_options(readable: Sequence[Path], writable: Sequence[Path], temporary: Path) -> list[str]:
    """Options that mount each path where it is, with the links that lead to it. Outer folders come first."""
    links: dict[Path, str] = {}
    mounts: dict[Path, str] = {}
    for path in readable:
        links |= {step: str(step.readlink()) for step in path_steps(path) if step.is_symlink()}
        mounts[path.resolve()] = "--ro-bind"
    mounts |= {path.resolve(): "--bind" for path in writable}
    existing = {path: how for path, how in mounts.items() if path.exists() and not _holds_home(path)}
    words = ["--bind", str(temporary), "/tmp"]  # noqa: S108
    for path, how in sorted(existing.items(), key=lambda item: len(item[0].parts)):
        words += [how, str(path), str(path)]
    hidden = data_path()
    if hidden.exists() and any(hidden.is_relative_to(path) for path in existing):
        words += ["--tmpfs", str(hidden), "--remount-ro", str(hidden)]
    for link, target in links.items():
        if not any(link.is_relative_to(path) for path in existing):
            words += ["--symlink", target, str(link)]
    return [*words, "--remount-ro", "/"]


def _holds_home(path: Path) -> bool:
    """Whether it is the user's home or a folder around it: never visible as a whole."""
    try:
        home = Path.home().resolve()
    except RuntimeError:  # no HOME, and no entry in the list of users
        return path == Path("/")
    return home.is_relative_to(path) and str(path) not in _SYSTEM


def run_in(  # noqa: PLR0913  (all options of a program)
    sandbox: Sandbox | None,
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    variables: Mapping[str, str] | None = None,
    seconds: float = DEFAULT_SECONDS,
    keep_bytes: int = DEFAULT_BYTES,
) -> Finished:
    """Run a program in the sandbox; without one it has all rights of the user.

    Then it has this process's environment, or with `variables` only PATH, LANG and those; HOME is the folder of `cwd`.
    """
    if sandbox is not None:
        return sandbox.run(
            command, cwd=cwd, readable=readable, writable=writable,
            variables=variables, seconds=seconds, keep_bytes=keep_bytes,
        )  # fmt: skip
    minimal = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str((cwd or Path("/")).parent), "LANG": "C.UTF-8"}
    env = None if variables is None else {**minimal, **variables}
    return run(command, cwd=cwd, env=env, seconds=seconds, keep_bytes=keep_bytes, contained=True)
