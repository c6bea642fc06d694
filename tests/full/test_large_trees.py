"""Trees that are large, deep or hostile, each through `rocm3d scan` in a process of its own: how long it works, what
memory it takes, and what the inventory says of what was not read. Run by `make test-full`.

Bounds are processor seconds, so that a busy machine makes no red test; they are several times what was measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.full

# Limits that end the scan before it exhausts the machine.
PROGRAM = """
import atexit, re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (700, 700))

def tell(place):
    own = int(re.search("VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1])
    with open(place, "w") as stream:
        print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss), file=stream)

atexit.register(tell, sys.argv.pop(1))
from rocm3d.cli.main import main
main()
"""
DEEP = 100_000
# Files without a term of any rule are not parsed; these heads have one.
HEADS = {
    ".py": "import pynvml, torch, triton\n",
    ".cu": "#include <device_launch_parameters.h>\n#define FULL_MASK 0xffffffff\n",
}
NEAR_THE_LIMIT = 4_000_000  # bytes: just below the 4 MiB that are read


@dataclass(frozen=True)
class ScanRun:
    code: int
    seconds: float
    megabytes: float
    document: dict[str, Any]
    stderr: str

    @property
    def reasons(self) -> dict[str, str]:
        """Skip reasons by path, joined."""
        by_path: dict[str, str] = {}
        for item in self.document["inventory"]["skipped"]:
            by_path[item["path"]] = (
                f"{by_path[item['path']]}; {item['reason']}" if item["path"] in by_path else item["reason"]
            )
        return by_path

    @property
    def counts(self) -> dict[str, int]:
        return self.document["inventory"]["counts"]

    @property
    def positions(self) -> list[tuple[str, int]]:
        return [(item["path"], item["line"]) for item in self.document["findings"]]


@pytest.fixture
def scan(tmp_path):
    """Scans a folder within limits of time and memory; the scan must end without a traceback."""

    def run(root: Path, seconds: float = 60, megabytes: float = 600) -> ScanRun:
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        command = [sys.executable, "-c", PROGRAM, work / "memory", "scan", root, "--no-cache"]
        options = ["--quiet", "--format", "json", "--work", work, "--output", work / "scan.json"]
        with (work / "stderr").open("wb") as stderr:
            child = subprocess.Popen([*command, *options], stderr=stderr)
            watch = threading.Timer(800, child.kill)
            watch.start()
            _, status, usage = os.wait4(child.pid, 0)
            watch.cancel()
        stderr_text = (work / "stderr").read_text("utf-8", "replace")
        code = child.returncode = os.waitstatus_to_exitcode(status)
        assert code in (0, 1), stderr_text
        assert "Traceback" not in stderr_text
        ended = ScanRun(
            code,
            usage.ru_utime + usage.ru_stime,
            int((work / "memory").read_text()) / 1024,  # usage has the peak of this process, before the other began
            json.loads((work / "scan.json").read_text()),
            stderr_text,
        )
        sys.stdout.write(f"{ended.seconds:.1f} s, {ended.megabytes:.0f} MB")
        assert ended.seconds < seconds
        assert ended.megabytes < megabytes
        return ended

    return run


@pytest.fixture
def root(tmp_path):
    """A repository with one ordinary file, whose finding must be reported whatever else is there."""
    folder = tmp_path / "target"
    folder.mkdir()
    (folder / "ordinary.cu").write_text("#include <device_launch_parameters.h>\n")
    return folder


ORDINARY = ("ordinary.cu", 1)


def test_folders_500_deep(scan, root):
    folder = root
    for _ in range(500):
        folder /= "d"
    folder.mkdir(parents=True)
    (folder / "a.cu").write_text("#include <device_launch_parameters.h>\n")

    ended = scan(root)

    assert ended.places == [ORDINARY]
    assert {"/".join(["d"] * 65): "is deeper than 64 folders"} == ended.reasons


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.cu", "(" * DEEP, None),
        ("b.cu", "{" * DEEP + "}" * DEEP, None),
        ("c.cu", "#if A\n" * DEEP, None),
        ("d.cu", "#if " + "(" * DEEP + "\n#endif\n", None),
        ("e.cu", "a<" * DEEP, None),
        ("f.cu", "if(a){" * DEEP, None),
        ("a.py", "(" * DEEP, None),
        ("b.py", "x = " + "[" * DEEP + "]" * DEEP, None),
        ("c.py", "x = " + "-" * DEEP + "1", None),
        ("d.py", "x = 1" + " + 1" * DEEP, None),
        ("e.py", "".join(" " * min(n, 99) + "if a:\n" for n in range(DEEP)), None),
        ("setup.py", "setup(install_requires=" + "[" * DEEP + "]" * DEEP + ")", "does not parse as Python 3"),
        ("a.ipynb", "[" * DEEP, None),
        ("b.ipynb", '{"cells":' * DEEP, None),
        ("pyproject.toml", "x = " + "[" * DEEP + "]" * DEEP, "nests too deeply to be read as TOML"),
        ("environment.yml", "[" * DEEP + "]" * DEEP, "nests too deeply to be read as YAML"),
        (".github/workflows/a.yml", "- " * DEEP, "nests too deeply to be read as YAML"),
        ("CMakeLists.txt", "if(" * DEEP, None),
        ("a.sh", "$(" * DEEP, None),
        ("Dockerfile", "RUN " + "[" * DEEP, None),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_brackets_100000_deep(scan, root, name, text, reason):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(HEADS.get(Path(name).suffix, "") + text)

    ended = scan(root, megabytes=1300)  # the parser may take 1 GiB before it is stopped

    assert ORDINARY in ended.places
    assert reason is None or reason in ended.reasons[name]


@pytest.mark.parametrize(
    ("name", "unit", "reason"),
    [
        ("a.py", "a?", "exceeds the time or memory limit"),
        ("a.py", "{}", "exceeds the time or memory limit"),
        ("a.cu", "@a", "exceeds the time or memory limit"),
        ("a.cu", "a<", "exceeds the time or memory limit"),
        ("setup.py", "()", "nests deeper than 1000 levels"),
    ],
    ids=lambda value: value if len(value) < 9 else "",
)
def test_parse_that_would_take_hours_is_stopped(scan, root, name, unit, reason):
    """Recovery from errors, and chains of calls, take the square of a file's size."""
    head = HEADS[Path(name).suffix] + "from torch.utils.cpp_extension import CUDAExtension\n" * (name == "setup.py")
    (root / name).write_text(head + "x = f" + unit * (1_000_000 // len(unit)) + "\n!")

    ended = scan(root, seconds=120, megabytes=1500)

    assert ORDINARY in ended.places
    assert reason in ended.reasons[name]


def test_a_sparse_file_of_1_gigabyte_is_not_read(scan, root):
    with (root / "huge.cu").open("wb") as stream:
        stream.truncate(1 << 30)

    ended = scan(root, seconds=20, megabytes=200)

    assert ended.places == [ORDINARY]
    assert {"huge.cu": "is 1073.7 MB, above the limit of 4 MiB"} == ended.reasons


@pytest.mark.parametrize("suffix", [".py", ".cu"])
def test_one_line_of_50_megabytes_is_not_read(scan, root, suffix):
    with (root / f"huge{suffix}").open("wb") as stream:
        stream.write(b"x = [")
        for _ in range(17):
            stream.write(b"1, " * 1_000_000)

    ended = scan(root, seconds=20, megabytes=200)

    assert ended.places == [ORDINARY]
    assert ended.reasons[f"huge{suffix}"].startswith("is 51.0 MB")


def test_200000_small_files_and_some_more(scan, root):
    for folder in range(1001):
        (root / f"{folder:04}").mkdir()
        for number in range(200):
            (root / f"{folder:04}" / f"{number}.py").write_bytes(b"import os\n")

    ended = scan(root, seconds=600, megabytes=1500)

    assert ended.counts["files"] == 200_000
    assert {".": "has more than 200000 files; the others were not read"} == ended.reasons


def test_links_loops_and_pipes_by_the_thousand(scan, root, tmp_path):
    (tmp_path / "secret.cu").write_text("#include <device_launch_parameters.h>\n")
    for number in range(1000):
        (root / f"out{number}.cu").symlink_to(tmp_path / "secret.cu")
        (root / f"up{number}").symlink_to("..")
        (root / f"loop{number}").symlink_to(f"loop{(number + 1) % 1000}")
        (root / f"self{number}").symlink_to(".")
        os.mkfifo(root / f"pipe{number}.cu")

    ended = scan(root)

    assert ended.places == [ORDINARY]
    assert ended.counts["files"] == 1
    reasons = ended.reasons
    assert len(reasons) == 5000
    assert "is a symlink to a path outside the repository" == reasons["out7.cu"] == reasons["up7"]
    assert reasons["loop7"] == "is a broken symlink"
    assert reasons["self7"] == "is a symlink; its target is read instead"
    assert reasons["pipe7.cu"] == "is not a regular file"


def test_nul_bytes_and_latin_1(scan, root):
    for name in ("a.cu", "a.py", "requirements.txt", "pyproject.toml", "environment.yml", "a.ipynb", "Dockerfile"):
        (root / f"nul-{name}").write_bytes(b"x\0" * 1_000_000)
        (root / name).write_bytes("# caf\xe9\n".encode("latin-1") * 300_000)

    ended = scan(root)

    assert ORDINARY in ended.places
    assert {"nul-a.cu", "nul-a.py"} <= {path for path, reason in ended.reasons.items() if "NUL" in reason}
    assert "is not UTF-8, so it is not TOML" in ended.reasons["pyproject.toml"]
    assert "not UTF-8" in ended.reasons["a.cu"]
    assert "not UTF-8" in ended.reasons["a.py"]


SUMS = "a0 = ['x']\n" + "".join(f"a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, 60))
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 60))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("environment.yml", LAUGHS + "dependencies: *a59\nchannels: *a59\n"),
        (".github/workflows/a.yml", LAUGHS + "run: *a59\n"),
        ("environment.yml", "a: &a {b: *a}\n"),
        ("environment.yml", "- &a " * 50_000),
        ("environment.yml", "? " * 100_000),
        ("environment.yml", "a: b\n" * 50_000),
        ("pyproject.toml", "a" + ".a" * DEEP + " = 1\n"),
        ("pyproject.toml", "[" + "a." * DEEP + "a]\n"),
        ("pyproject.toml", "".join(f"[a.b{n}.c]\nd = 1\n" for n in range(15_000))),
        ("pyproject.toml", "x = " + "9" * 1_000_000 + "\n"),
        ("pyproject.toml", "x = 1e" + "9" * 250_000 + "\n"),
        ("pyproject.toml", "[tool.poetry.dependencies]\n" + "".join(f'a{n} = "1"\n' for n in range(20_000))),
        ("setup.py", SUMS + "setup(install_requires=a59)"),
        ("a.sh", "A=xx\n" + "A=$A$A\n" * 60 + "pip install $A\n"),
        ("Dockerfile", "ARG A=xx\n" + "ARG A=$A$A\n" * 60 + "FROM $A\n"),
    ],
    ids=["aliases", "aliases in a workflow", "a loop", "anchors", "keys of keys", "many keys", "dotted key",
         "dotted heading", "tables", "digits", "exponent", "poetry", "sums of names", "variables", "arguments"],
)  # fmt: skip
def test_bombs(scan, root, name, text):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)

    ended = scan(root)

    assert ORDINARY in ended.places


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("a.py", "x = 1\n"), ("a.py", "1,"), ("a.py", "import pynvml\n"), ("a.py", "import pynvml;"),
        ("a.cu", "int x = 1;\n"), ("a.cu", "1,"), ("a.cu", "int x;"),
        ("a.cu", "void f() { __shfl_sync(0xffffffff, x, 1); }\n"),
        ("setup.py", "x = 1\n"), ("setup.cfg", "[options]\ninstall_requires =\n  torch\n"),
        ("requirements.txt", "torch==1.0\n"),
        ("requirements.txt", " "), ("requirements.txt", "["), ("requirements.txt", "```\n"),
        ("pyproject.toml", "# a\n"), ("environment.yml", "- a\n"), ("Dockerfile", "RUN pip install torch\n"),
        ("Dockerfile", "RUN <<A\n"), ("compose.yml", "  image: a\n"), ("CMakeLists.txt", "find_package(CUDA)\n"),
        ("CMakeLists.txt", "[="), ("a.sh", "pip install torch\n"), ("a.sh", "pip "), ("a.sh", "cat <<A\n"),
        ("README.md", "```\npip install torch\n```\n"), ("README.md", "`"), ("a.ipynb", '"a'), ("a.ipynb", "{"),
        (".gitmodules", '[submodule "a"]\n'), ("uv.lock", '[[package]]\nname = "torch"\n'),
    ],
    ids=lambda value: value.split("\n")[0][:24],
)  # fmt: skip
def test_files_just_below_the_limit_end_in_time(scan, root, name, unit):
    """4 MB of one thing: whatever takes the square of a file's size in time does not end here."""
    (root / name).write_text(unit * (NEAR_THE_LIMIT // len(unit)))

    ended = scan(root, seconds=240, megabytes=4000)

    assert ORDINARY in ended.places
