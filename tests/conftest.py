"""Shared fixtures: the knowledge base, copies of the examples, the command line, and hypothesis profiles."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import processes
import pytest
import xdist
from hypothesis import HealthCheck, settings
from waiting import next_line

from rocm3d.knowledge.load import load
from rocm3d.toolchain import prepared
from rocm3d.toolchain.finder import newest_recipe
from rocm3d.verify.compilation.kit import find_kit
from rocm3d.verify.resolution.resolver import ResolveRequest
from rocm3d.verify.resolution.session import find_resolver
from rocm3d.workspace.seal import seal_of

ROOT = Path(__file__).resolve().parents[1]
# The toolchain made of wheels, built once for all test processes and stored between runs.
TOOLCHAIN = ROOT / "build" / "toolchain-cache"

# Derandomised, so that a failure can be repeated; `make fuzz` uses random inputs.
settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# Hours instead of a minute, with random inputs: `pytest --hypothesis-profile long tests/manifest tests/syntax`.
settings.register_profile("long", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile("ci")


# A shell that starts pytest in the background ignores SIGINT, and children inherit that; but tests send Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TEST_FAILED = pytest.StashKey[bool]()
ONE_TEST = ".venv/bin/pytest -n 0 tests/cli/test_scan.py -k WORDS"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that use the real compilers are marked as engines."""
    for item in items:
        if {"kits", "toolchain"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.engines)


def pytest_terminal_summary(terminalreporter):
    """Print what was not run and why, and how to run one test."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ").removeprefix("not run: ") for report in skipped)
    terminalreporter.section("not run")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count}: {reason}")
    terminalreporter.write_line(f"{len(skipped)} selected tests not run. Others: `make test-engines`, `make test-full`")
    terminalreporter.write_line(f"to run one test: {ONE_TEST} (for engines add -m engines)")


def pytest_configure():
    processes.begin_run()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[TEST_FAILED] = item.stash.get(TEST_FAILED, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def _nothing_outlives_a_test(request):
    before = processes.descendants(os.getpid())
    yield
    failed = request.node.stash.get(TEST_FAILED, False)
    strays = processes.end_strays(before, thorough=failed)
    assert failed or not strays, f"still running after the test: {strays}"


def pytest_sessionfinish(session):
    if not xdist.is_xdist_controller(session):
        processes.end_strays((), thorough=True)


@pytest.fixture(scope="session")
def knowledge():
    return load()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory):
    """Paths of new folders, not yet created. mktemp would list all of its folders for each new one."""
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in itertools.count())


@pytest.fixture(scope="session", autouse=True)
def _own_data(tmp_path_factory):
    """No key of ours in the home of the developer, also where a fixture serves many tests."""
    with pytest.MonkeyPatch.context() as patch:
        data = tmp_path_factory.getbasetemp() / "data"
        patch.setenv("ROCM3D_DATA", str(data))
        seal_of("", b"")  # creates the key
        yield data / "key"


@pytest.fixture(autouse=True)
def _own_cache(_homes, _own_data, monkeypatch):
    """No test uses the cache or the ledger of the developer. All have one key: a fixture's port serves many tests."""
    home = next(_homes)
    (home / "data").mkdir(parents=True)
    (home / "data" / "key").hardlink_to(_own_data)
    monkeypatch.setenv("ROCM3D_CACHE", str(home / "cache"))
    monkeypatch.setenv("ROCM3D_DATA", str(home / "data"))


@pytest.fixture
def example(tmp_path):
    """A copy of an example by name, outside any git checkout."""

    def copy(name: str) -> Path:
        target = tmp_path / name
        shutil.copytree(ROOT / "examples" / name, target, ignore=shutil.ignore_patterns(".rocm3d"))
        return target

    return copy


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def _command_server():
    """One server per worker; see tests/support/command_server.py."""
    command = [sys.executable, ROOT / "tests" / "support" / "command_server.py"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield server
        server.stdin.close()


@pytest.fixture
def rocm3d(_command_server, _homes):
    """Runs a command in its own process. Trees of tests are edited without git, unless `yes` is False."""

    def run(
        *arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None, yes: bool = True
    ) -> CommandResult:
        folder = next(_homes)
        folder.mkdir()
        words = list(map(str, arguments))
        if yes and words[:1] in (["apply"], ["port"]) and "--into" not in words:
            words.insert(1, "--yes")
        request = {
            "arguments": words,
            "cwd": str(cwd or Path.cwd()),
            "env": {**os.environ, "COLUMNS": "120", **(env or {})},
            "out": str(folder / "out"),
            "err": str(folder / "err"),
        }
        _command_server.stdin.write(json.dumps(request) + "\n")
        _command_server.stdin.flush()
        code = int(next_line(_command_server))
        return CommandResult(
            code, (folder / "out").read_text(encoding="utf-8"), (folder / "err").read_text(encoding="utf-8")
        )

    return run


@pytest.fixture(scope="session")
def kits():
    """Compilers with a torch for each generation of hipify; tests that need them fail without them."""
    TOOLCHAIN.mkdir(parents=True, exist_ok=True)
    recipes = load().toolchains
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_CACHE", str(TOOLCHAIN))
        prepared.prepare(newest_recipe(recipes), lambda _: None)
        return {generation: find_kit(recipes, generation, None, None) for generation in (1, 2)}


@pytest.fixture
def kit(kits):
    return kits[1]


@pytest.fixture(scope="session")
def torch_python():
    """Another interpreter with torch; tests that need it fail without it."""
    interpreter = Path(os.environ.get("ROCM3D_TEST_TORCH") or ROOT / ".venv-torch" / "bin" / "python")
    if not interpreter.is_file():
        pytest.fail(f"{interpreter} does not exist. Run `make .venv-torch/installed`, or set ROCM3D_TEST_TORCH")
    return interpreter


@pytest.fixture
def torch_environment(torch_python, tmp_path):
    """A new environment with that torch: its interpreter, and the folder for more packages."""
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
    """Real git with an identity, and without user settings."""
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
    """Makes a repository with a submodule libs/knn of these files; returns its folder and the submodule's commit."""

    def make(files: dict[str, bytes], root: Path | None = None) -> tuple[Path, str]:
        module, root = tmp_path / "knn-origin", root or tmp_path / "around"
        root.mkdir(exist_ok=True)
        for name, data in files.items():
            file = module / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        for folder in (module, root):
            git(folder, "init", "-q", "-b", "main")
            git(folder, "add", "-A")
            git(folder, "commit", "-q", "--allow-empty", "-m", "start")
        git(root, "submodule", "--quiet", "add", module, "libs/knn")
        git(root, "commit", "-qm", "submodule")
        return root, git(module, "rev-parse", "HEAD").strip()

    return make


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of every file below a folder, without our own state."""
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
    """Skips tests that need a real package index if none responds."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "requirements.txt").write_text("packaging\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_CACHE", str(folder / "cache"))
        request = ResolveRequest(folder / "requirements.txt", "3.12", "linux", without_dependencies=True)
        resolution = find_resolver("uv").resolve(request)
    if resolution.problem is not None:
        pytest.skip(f"not run: no package index responds ({resolution.problem.kind})")
