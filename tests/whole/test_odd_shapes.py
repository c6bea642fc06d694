"""Files that parse but have one value of a wrong type: no reader stops."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.knowledge.load import load
from rocm3d.model.errors import UserError
from rocm3d.model.toml import parse
from rocm3d.scan.file_scan import FileResult, scan_file
from rocm3d.scan.selection import Selection
from rocm3d.workspace.configuration import read_configuration
from rocm3d.workspace.tree import Tree

KNOWLEDGE = Path(__file__).resolve().parents[2] / "knowledge"
RECORDS = sorted({path.parent: str(path.relative_to(KNOWLEDGE)) for path in KNOWLEDGE.rglob("*.toml")}.values())
ODD = [0, -1.5, True, "", "{0}\u2028", [], {}, [0, []], {"": 0}, {"torch": []}, [{"torch": {}}]]
PIXI = {
    "dependencies": {"a": "1", "b": {"version": "1"}},
    "feature": {"c": {"pypi-dependencies": {"d": {"git": "https://h"}}}},
    "target": {"linux-64": {"dependencies": {"e": "*"}}},
    "tasks": {"f": "pip install g", "h": {"cmd": "pip install i"}},
}
PYPROJECT = {
    "build-system": {"requires": ["torch"]},
    "project": {"name": "a", "dependencies": ["torch"], "optional-dependencies": {"b": ["c"]}},
    "dependency-groups": {"d": ["e", {"include-group": "f"}]},
    "tool": {
        "poetry": {
            "dependencies": {"a": "1", "torch": {"version": "1", "extras": ["b"], "url": "https://h"}},
            "group": {"c": {"dependencies": {"d": [{"path": "e"}]}}},
            "source": [{"name": "f", "url": "https://h"}],
        },
        "uv": {
            "dev-dependencies": ["a"],
            "find-links": ["https://h"],
            "index": [{"url": "https://h"}],
            "sources": {"torch": [{"index": "b", "marker": "c"}], "d": {"git": "https://h"}},
        },
        "pdm": {"dev-dependencies": {"a": ["b"]}, "source": [{"url": "https://h"}]},
        "hatch": {"envs": {"a": {"dependencies": ["b"]}}},
        "pixi": PIXI,
        "rocm3d": {"gpu": "mi300x", "only": ["CU"], "licence-policy": "report"},
    },
}
CONDA = {"channels": ["nvidia"], "dependencies": ["a", {"pip": ["torch", "-r b.txt"]}]}
PIPFILE = {
    "source": [{"url": "https://h", "name": "a"}],
    "packages": {"torch": "*", "b": {"version": "1", "extras": ["c"], "file": "https://h"}},
    "requires": {"python_version": "3"},
}
COG = {
    "build": {
        "gpu": True,
        "python_packages": ["torch"],
        "python_requirements": "a.txt",
        "run": ["pip install b", {"command": "pip install c"}],
    }
}
COMPOSE = {"services": {"a": {"image": "nvidia/cuda:12", "runtime": "nvidia"}}}
WORKFLOW = {"jobs": {"a": {"steps": [{"uses": "b"}, {"run": "pip install torch"}]}}}
NOTEBOOK = {"cells": [{"cell_type": "code", "source": ["!pip install torch\n"]}], "metadata": {}}


def toml(value: object) -> str:
    """A value as TOML, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value, default=str)


def document(value: dict) -> str:
    return "".join(f"{json.dumps(key)} = {toml(inner)}\n" for key, inner in value.items())


def value_paths(value: object) -> list[tuple[object, ...]]:
    """The key path of every inner value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, below in inner for path in ((key,), *((key, *rest) for rest in value_paths(below)))]


def with_odd_values(value: dict) -> list[dict]:
    """Copies of the document, each with one value replaced by an odd one."""
    documents = []
    for *parents, last in value_paths(value):
        for odd in ODD:
            changed = inner = copy.deepcopy(value)
            for key in parents:
                inner = inner[key]
            inner[last] = odd
            documents.append(changed)
    return documents


@pytest.mark.parametrize(
    ("path", "value", "write"),
    [
        ("pyproject.toml", PYPROJECT, document),
        ("pixi.toml", PIXI, document),
        ("Pipfile", PIPFILE, document),
        ("cog.yaml", COG, json.dumps),
        ("environment.yml", CONDA, json.dumps),
        ("compose.yml", COMPOSE, lambda value: json.dumps(value, indent=1)),
        (".github/workflows/a.yml", WORKFLOW, json.dumps),
        ("a.ipynb", NOTEBOOK, json.dumps),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_odd_value_does_not_stop_a_scan(knowledge, path, value, write):
    for changed in with_odd_values(value):
        result = scan_file(path, write(changed).encode(), knowledge, Selection())

        assert result == FileResult.model_validate_json(result.model_dump_json())
        assert 1 == result.manifests


HALF = r"torch==\ud800"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", f"setup(install_requires=['{HALF}'])\n"),
        ("setup.py", f"setup(install_requires=[f'{HALF}'])\n"),
        ("a.py", f"run(['pip', 'install', '{HALF}'])\nrun('pip install {HALF}')\n"),
        ("Dockerfile", f'RUN ["pip", "install", "{HALF}"]\n'),
        ("environment.yml", f'dependencies:\n- "{HALF}"\n'),
        ("cog.yaml", f'build:\n  run: ["pip install {HALF}"]\n'),
        (".github/workflows/a.yml", f'run: "pip install {HALF}"\n'),
        ("a.ipynb", f'{{"cells": [{{"cell_type": "code", "source": ["!pip install {HALF}"]}}]}}'),
    ],
)
def test_lone_surrogate_does_not_stop_a_scan(knowledge, path, text):
    """Literals can contain lone surrogates, which no document can store."""
    result = scan_file(path, text.encode(), knowledge, Selection())

    assert {"torch"} == {item.package for item in result.findings} | {item.name for item in result.dependencies}
    assert result == FileResult.model_validate_json(result.model_dump_json())


def error_message(action: Callable[[], object]) -> str:
    """The error message for the user; empty if there is no error."""
    try:
        action()
    except UserError as error:
        return error.message
    return ""


def test_odd_value_in_the_settings_is_a_user_error(tmp_path):
    messages = set()
    for changed in with_odd_values(PYPROJECT["tool"]["rocm3d"]):
        text = document({"tool": {"rocm3d": changed}}).encode()
        tree = Tree.open(tmp_path, overlay={"pyproject.toml": text})
        messages.add(error_message(lambda tree=tree: read_configuration(tree)).partition(": ")[0])

    assert {"", "pyproject.toml, [tool.rocm3d]"} == messages


@st.composite
def odd_records(draw):
    """The path of a shipped record, and its text with one odd value."""
    path = draw(st.sampled_from(RECORDS))
    value = parse((KNOWLEDGE / path).read_bytes())
    *parents, last = draw(st.sampled_from(value_paths(value)))
    inner = value
    for key in parents:
        inner = inner[key]
    inner[last] = draw(st.sampled_from(ODD))
    return path, document(value)


@given(odd_records())
def test_odd_value_in_a_record_is_a_user_error_or_accepted(record):
    path, text = record
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        message = error_message(lambda: load(Path(folder)))

    assert not message or path in message
