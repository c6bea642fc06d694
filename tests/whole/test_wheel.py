"""The wheel, built and installed into an empty environment, works outside the checkout."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.engines
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    # The build backend is installed beside us: no second download.
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_carries_every_record_template_and_payload(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    records = {
        f"rocm3d/knowledge/data/{path.relative_to(ROOT / 'knowledge').as_posix()}"
        for path in (ROOT / "knowledge").rglob("*")
        if path.is_file()
    }

    source = ROOT / "src"
    carried = [*source.glob("rocm3d/*/templates/*"), *source.glob("rocm3d/payload/*.py")]

    assert set() == records - names
    assert "rocm3d/render/templates/report.html" in names
    assert set() == {path.relative_to(source).as_posix() for path in carried} - names


def test_it_runs_in_an_empty_environment_outside_the_checkout(wheel, tmp_path, example):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    install = subprocess.run([*pip, "-c", ROOT / "constraints.txt", wheel], capture_output=True, text=True, check=False)
    assert install.returncode == 0, install.stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run(*arguments):
        command = [tmp_path / "env" / "bin" / "rocm3d", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, check=False)

    check, scan = run("kb", "check"), run("scan", example("already-portable"))

    assert (0, "") == (check.returncode, check.stdout)
    assert "problems: 0" in check.stderr
    assert (0, "") == (scan.returncode, scan.stdout)
    listed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True).stdout
    assert "torch" not in listed
    assert "triton" not in listed
