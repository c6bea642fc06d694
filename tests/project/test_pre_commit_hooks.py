"""The hook that other repositories run through pre-commit."""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml import YAML

from rocm3d.cli.help import help_texts
from rocm3d.cli.main import build
from rocm3d.knowledge.load import tomllib

ROOT = Path(__file__).resolve().parents[2]


def hooks():
    return YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")


def test_scan_hook_scans_the_whole_repository():
    (hook,) = hooks()

    assert hook["id"] == "rocm3d-scan"
    assert (hook["language"], hook["args"]) == ("python", ["."])
    assert (hook["pass_filenames"], hook["always_run"]) == (False, True)


def test_every_entry_is_a_command_that_exists():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]

    for hook in hooks():
        assert hook["entry"].split()[0] in scripts
        assert hook["entry"] in help_texts(build())
