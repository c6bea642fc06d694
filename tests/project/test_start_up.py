"""A command loads only the modules that it needs: start-up is most of a small scan. Counts modules, not time."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# What only other commands, formats or trees need.
HEAVY = {
    "concurrent.futures.process", "jinja2", "libcst", "pip_requirements_parser", "rich", "ruamel", "sqlite3",
    "rocm3d.apply", "rocm3d.evidence", "rocm3d.pipeline", "rocm3d.plan", "rocm3d.skill", "rocm3d.verify",
}  # fmt: skip
TELL = (
    "import atexit, json, sys\n"
    "atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))\n"
    "from rocm3d.cli.main import main; main()\n"
)


def loaded_modules(*words: object) -> set[str]:
    """The modules that a call has loaded at its end."""
    command = [sys.executable, "-c", TELL, *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    return set(json.loads(ended.stderr.splitlines()[-1]))


@pytest.fixture
def small(tmp_path):
    (tmp_path / "a.cu").write_text("void f() { k<< <1, 1>> >(); }\n")
    (tmp_path / "b.py").write_text("import torch\n")
    return tmp_path


def test_a_small_scan_loads_nothing_of_other_commands(small):
    modules = loaded_modules("scan", small, "--no-cache", "--format", "json", "--quiet", "--only", "spaced_launch")

    assert modules & HEAVY == set()
    assert "rocm3d.cli.plan" not in modules
    assert not any(name.startswith("rocm3d.scan.detectors.") and name.count(".") == 4 for name in modules)
    assert {name for name in modules if name.startswith("rocm3d.scan.matchers.")} == {
        "rocm3d.scan.matchers.cuda_syntax"
    }


def test_cached_scan_loads_neither_rules_nor_models_nor_typer(small):
    words = ("scan", small, "--format", "json", "--quiet")
    loaded_modules(*words)
    modules = loaded_modules(*words)

    assert not modules & {"pydantic", "tree_sitter", "typer", "rocm3d.scan.stage", "rocm3d.knowledge.load"}
    assert "rocm3d.scan.scan_cache" in modules


def test_the_version_loads_no_command():
    modules = loaded_modules("--version")

    assert modules & (HEAVY | {"tree_sitter", "rocm3d.cli.scan", "rocm3d.cli.session"}) == set()


def test_help_has_every_command():
    ended = subprocess.run(
        [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    for command in ("scan", "plan", "kb", "explain"):
        assert f" {command} " in ended.stdout
