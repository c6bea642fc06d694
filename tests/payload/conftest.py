"""Fake packages in a folder, and probes of them in an interpreter that has torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path
from textwrap import dedent

import pytest
from processes import Program
from waiting import next_line

PAYLOAD = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload"
LOADS_LIBRARY = "import ctypes, pathlib\nctypes.CDLL(str(pathlib.Path(__file__).with_name('_native.so')))\n"


@pytest.fixture(scope="session")
def fork_server(torch_python):
    """One process with torch for all probes of this worker; it forks for each."""
    command = [torch_python, Path(__file__).with_name("fork_server.py"), PAYLOAD / "probe_backend.py"]
    pipe = subprocess.PIPE
    with Program(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as running:
        yield running


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def package(site):
    """Writes a package from the texts of its files; with `library` it also loads a compiled library from its folder."""

    def write(name: str, library: bool = False, **files: str) -> Path:
        folder = site / name
        texts = {"__init__": "", **files}
        for path, text in texts.items():
            file_path = folder / f"{path.replace('__DOT__', '/')}.py"
            file_path.parent.mkdir(parents=True, exist_ok=True)
            file_path.write_text(dedent(text))
        if library:
            library_file = next(Path(sysconfig.get_config_var("DESTSHARED")).glob("*.so"))
            shutil.copyfile(library_file, folder / "_native.so")
            start = folder / "__init__.py"
            start.write_text(LOADS_LIBRARY + start.read_text())
        return folder

    return write


@pytest.fixture
def run_probe(fork_server, site, tmp_path, knowledge):
    """Runs a probe on modules; returns its result."""
    tolerances = {tolerance.id: [tolerance.rtol, tolerance.atol] for tolerance in knowledge.tolerances.values()}

    def run(probe: str, *modules: str, device: str = "cpu", roots: list[str] | None = None) -> dict:
        request = {
            "probe": probe,
            "modules": modules,
            "device": device,
            "tolerances": tolerances,
            "roots": [str(site)] if roots is None else roots,
        }
        response_path = tmp_path / "answer.json"
        response_path.unlink(missing_ok=True)
        fork_server.stdin.write(json.dumps({"request": request, "path": [str(site)], "to": str(response_path)}) + "\n")
        fork_server.stdin.flush()
        assert next_line(fork_server) == "done\n"
        return json.loads(response_path.read_text()) if response_path.exists() else {"outcome": "died"}

    return run


@pytest.fixture
def torch_output(fork_server, tmp_path):
    """Runs a program in a process that has torch imported; returns its output."""

    def run(program: str, *path: Path, **env: str) -> str:
        output_path = tmp_path / "printed.txt"
        job = {"program": program, "path": list(map(str, path)), "env": env, "to": str(output_path)}
        fork_server.stdin.write(json.dumps(job) + "\n")
        fork_server.stdin.flush()
        assert next_line(fork_server) == "done\n"
        return output_path.read_text()

    return run


@pytest.fixture
def checks_by_result():
    """Names of the checks that agree, and of those that do not."""

    def split(answer: dict) -> tuple[set[str], set[str]]:
        names = {True: set(), False: set()}
        for check in answer["checks"]:
            names[check["agrees"]].add(check["name"])
        return names[True], names[False]

    return split
