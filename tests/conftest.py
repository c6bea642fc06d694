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
from rocm3d.toolchain import prepared
from rocm3d.toolchain.finder import newest
from rocm3d.verify.compilation.kit import Kit, find_kit
from rocm3d.verify.resolution.answer import Request
from rocm3d.verify.resolution.session import resolver_named

ROOT = Path(__file__).resolve().parents[1]
# The toolchain made of wheels, put together once for all test processes and kept between runs.
TOOLCHAIN = ROOT / "build" / "toolchain-cache"

# Derandomised, so that a red run is red again; `make fuzz` is the place for luck.
settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# For an afternoon instead of a minute, with luck: `pytest --hypothesis-profile long tests/manifest tests/syntax`.
settings.register_profile("long", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def knowledge():
    return load()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test touches the cache or the ledger of the person who runs it."""
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path_factory.mktemp("data")))


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
def kits():
    """Compilers with a torch for each generation of hipify; nothing that asks for them passes without."""
    TOOLCHAIN.mkdir(parents=True, exist_ok=True)
    recipes = load().toolchains
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_CACHE", str(TOOLCHAIN))
        prepared.prepare(newest(recipes), lambda _: None)
        found = {generation: find_kit(recipes, generation, None, None) for generation in (1, 2)}
    assert all(isinstance(kit, Kit) for kit in found.values()), found
    return found


@pytest.fixture
def kit(kits):
    return kits[1]


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


def git(root: Path, *arguments: object) -> str:
    """Real git with an identity, and without anybody's settings."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    command = ["git", "-C", str(root), *settings, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert ended.returncode == 0, f"{command}: {ended.stderr.decode()}"
    return ended.stdout.decode()


@pytest.fixture(name="git", scope="session")
def _git():
    return git


@pytest.fixture
def with_submodule(tmp_path):
    """A repository with a submodule at libs/knn that holds these files; its folder and the submodule's commit."""

    def make(files: dict[str, bytes], root: Path | None = None) -> tuple[Path, str]:
        module, root = tmp_path / "knn-origin", root or tmp_path / "around"
        root.mkdir(exist_ok=True)
        for name, data in files.items():
            place = module / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        for folder in (module, root):
            git(folder, "init", "-q", "-b", "main")
            git(folder, "add", "-A")
            git(folder, "commit", "-q", "--allow-empty", "-m", "start")
        git(root, "submodule", "--quiet", "add", module, "libs/knn")
        git(root, "commit", "-qm", "submodule")
        return root, git(module, "rev-parse", "HEAD").strip()

    return make


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
