"""A copy of a checkout for test runs: files, virtual environments that import the copy, and its own git repository."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import fault_hits
from fault_operators import SourceEdit
from fault_watch import instrumented

PLUGIN, RECORDER = (Path(__file__).with_name(name) for name in ("fault_plugin.py", "fault_hits.py"))
ENVIRONMENTS = (".venv", ".venv-torch")
# The first test that needs it builds it, which takes minutes.
TOOLCHAIN = Path("build", "toolchain-cache")
# Every process of a copy has this variable, so that processes that outlive their test can be ended.
COPY_VARIABLE = "FAULTS_COPY"
# Time limits for a run and for a test, against faults that loop.
RUN_TIMEOUT_SECONDS = 600.0
TEST_TIMEOUT_SECONDS = 300
_versions = itertools.count(1)


@dataclass(frozen=True)
class PytestFailure:
    """A failed test run: the first failing test or module, or None if pytest did not report one."""

    test: str | None
    is_hang: bool = False


@dataclass(frozen=True)
class CheckoutCopy:
    """A copy of `checkout` in `folder`, which also holds the files that its tests write."""

    checkout: Path
    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "checkout"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.root / ".venv" / "bin" / "python"

    def make(self) -> None:
        """Create the copy; an earlier one is deleted."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.root.mkdir(parents=True)
        names = _git(self.checkout, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        for name in filter(None, names):
            if os.path.lexists(self.checkout / name):
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.checkout / name, self.root / name, follow_symlinks=False)
        for name in ENVIRONMENTS:
            if (self.checkout / name).is_dir():
                self._link_environment(name)
        if (self.checkout / TOOLCHAIN).is_dir():
            shutil.copytree(self.checkout / TOOLCHAIN, self.root / TOOLCHAIN, symlinks=True)
        _git(self.root, "init", "-q")
        _git(self.root, "add", "-A")
        _git(self.root, "-c", "user.name=faults", "-c", "user.email=faults@localhost", "commit", "-qm", "copy")
        shutil.copy2(PLUGIN, self._site_packages(".venv"))

    def _link_environment(self, name: str) -> None:
        """Hard links, except for files that contain the path of the checkout: its sources would be imported."""
        shutil.copytree(self.checkout / name, self.root / name, symlinks=True, copy_function=_link)
        scripts = (path for path in (self.root / name / "bin").iterdir() if path.is_file() and not path.is_symlink())
        for path in (*scripts, *self._site_packages(name).glob("*.pth")):
            data = path.read_bytes()
            if data.startswith(b"\x7fELF") or os.fsencode(self.checkout) not in data:
                continue
            mode = path.stat().st_mode
            path.unlink()
            path.write_bytes(data.replace(os.fsencode(self.checkout), os.fsencode(self.root)))
            path.chmod(mode)

    def _site_packages(self, name: str) -> Path:
        return next((self.root / name).glob("lib/python*/site-packages"))

    def instrument(self, lines: Mapping[str, Mapping[int, int]], hits: Path) -> None:
        """Instrument these lines (numbers by path and line): every process records in `hits` which of them it runs."""
        hits.mkdir(parents=True)
        for path, numbers in lines.items():
            file = self.root / path
            file.write_text(instrumented(file.read_bytes(), numbers), encoding="utf-8")
        for name in ENVIRONMENTS:
            if (self.root / name).is_dir():
                site = self._site_packages(name)
                shutil.copy2(RECORDER, site)
                (site / fault_hits.FOLDER.name).write_text(str(hits), encoding="utf-8")

    def run_tests(self, tests: Sequence[str], expected_seconds: float) -> PytestFailure | None:
        """Run these tests in order until the first failure; None if all pass."""
        selection, failure = self.folder / "tests.json", self.folder / "failure.txt"
        selection.write_text(json.dumps(tests), encoding="utf-8")
        failure.unlink(missing_ok=True)
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        ours = [
            f"--fault-tests={selection}",
            f"--fault-failure={failure}",
            "-m",
            "",
            "-o",
            f"timeout={TEST_TIMEOUT_SECONDS}",
        ]
        command = [*ours, "-n", "0", "-x", "-q", "--tb=short", *files]
        code = self.run_pytest(command, max(RUN_TIMEOUT_SECONDS, 3 * expected_seconds))
        if code in (0, 5):
            return None
        return PytestFailure(failure.read_text(encoding="utf-8") if failure.exists() else None, code is None)

    def run_pytest(self, arguments: Sequence[str], seconds: float | None = None) -> int | None:
        """The exit code of pytest, or None after a timeout. All processes that it started are ended."""
        options = ["-p", "fault_plugin", "-p", "no:cacheprovider", f"--basetemp={self.folder / 'tmp'}"]
        command = [str(self.python), str(self.python.with_name("pytest")), *options, *arguments]
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONPATH" and "PYTEST" not in name
        }
        with (self.folder / "pytest.log").open("wb") as log:
            child = subprocess.Popen(
                command, cwd=self.root, env={**environment, COPY_VARIABLE: str(self.folder)}, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                return child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                self._end_processes()
                child.wait()

    def _end_processes(self) -> None:
        mark = os.fsencode(f"{COPY_VARIABLE}={self.folder}") + b"\0"
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)

    @contextlib.contextmanager
    def apply_fault(self, path: str, edit: SourceEdit) -> Iterator[None]:
        """Apply a fault to a file during the block; then restore the whole copy."""
        file = self.root / path
        before, source = file.stat(), file.read_bytes()
        file.write_bytes(edit.apply_to(source))
        # Python compares bytecode by size and second: no two versions may share both.
        os.utime(file, (before.st_atime, before.st_mtime + next(_versions)))
        try:
            yield
        finally:
            file.write_bytes(source)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            if _git(self.root, "status", "--porcelain"):
                _git(self.root, "reset", "-q", "--hard")
                _git(self.root, "clean", "-fdq")


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def _git(root: Path, *arguments: str) -> str:
    command = [shutil.which("git") or "git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
