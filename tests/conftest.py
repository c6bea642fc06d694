"""What tests share: the knowledge base, copies of the examples, the command line, and hypothesis profiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rocm3d.knowledge.load import load
from rocm3d.verify.resolution.answer import Request
from rocm3d.verify.resolution.session import resolver_named

ROOT = Path(__file__).resolve().parents[1]

# Derandomised, so that a red run is red again; `make fuzz` is the place for luck.
settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def knowledge():
    return load()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test touches the cache of the person who runs it."""
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def example(tmp_path):
    """A copy of an example by name, outside any git checkout."""

    def copy(name: str) -> Path:
        target = tmp_path / name
        shutil.copytree(ROOT / "examples" / name, target, ignore=shutil.ignore_patterns(".rocm3d"))
        return target

    return copy


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def rocm3d():
    """Runs the real command in a process of its own."""

    def run(*arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> Ended:
        finished = subprocess.run(
            [sys.executable, "-c", "from rocm3d.cli.main import main; main()", *map(str, arguments)],
            capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "120", **(env or {})}, check=False,
        )  # fmt: skip
        return Ended(finished.returncode, finished.stdout, finished.stderr)

    return run


@pytest.fixture(scope="session")
def torch_python():
    """An interpreter that has torch, apart from ours; nothing that asks for it passes without it."""
    place = Path(os.environ.get("ROCM3D_TEST_TORCH") or ROOT / ".venv-torch" / "bin" / "python")
    if not place.is_file():
        pytest.fail(f"{place} is not there: `make .venv-torch/installed` makes it, or ROCM3D_TEST_TORCH names another")
    return place


@pytest.fixture
def torch_environment(torch_python, tmp_path):
    """An environment of its own with that torch: its interpreter, and the folder for further packages."""
    root = tmp_path / "environment"
    version = subprocess.run(
        [torch_python, "-c", "import sys, site; print(sys.base_prefix, site.getsitepackages()[0], sep='\\n')"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    site = root / Path(version[1]).relative_to(torch_python.parents[1])
    site.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin" / "python").symlink_to(torch_python.resolve())
    (root / "pyvenv.cfg").write_text(f"home = {version[0]}/bin\n")
    (site / "torch_of_tests.pth").write_text(f"{version[1]}\n")
    return root / "bin" / "python", site


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with mode and bytes, our own state left out."""
    return {
        str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".rocm3d" not in path.parts and ".git" not in path.parts
    }


@pytest.fixture(name="snapshot")
def _snapshot():
    return snapshot


@pytest.fixture(scope="session")
def index_answers(tmp_path_factory):
    """For tests that ask a real index; where none answers they are not run, and say so."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "requirements.txt").write_text("packaging\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_CACHE", str(folder / "cache"))
        asked = Request(folder / "requirements.txt", "3.12", "linux", without_dependencies=True)
        found = resolver_named("uv").resolve(asked)
    if found.problem is not None:
        pytest.skip(f"not run: no index answers ({found.problem.kind})")
