from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.workflow import is_workflow, reader

TEXT = """on: push
jobs:
  a:
    steps:
      - uses: actions/checkout@v4
        with: {run-name: pip install not-run}
      - run: pip install torch
      - run: "pip install gsplat"
      - name: many
        run: |
          # pip install no
          pip install numpy \\
            xformers
      - run: >
          pip install
          flash-attn
"""


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    result = reader.read(".github/workflows/a.yml", data).mentions
    return [(entry.name, entry.line, entry.column, entry.section) for entry in result]


def test_run_steps_of_every_style():
    assert mention_positions(TEXT) == [
        ("torch", 7, 26, "workflow"),
        ("gsplat", 8, 27, "workflow"),
        ("numpy", 12, 23, "workflow"),
        ("xformers", 13, 13, "workflow"),
        ("flash-attn", 16, 11, "workflow"),
    ]


@pytest.mark.parametrize("path", ["workflows/a.yml", ".github/a.md", "a.yml"])
def test_is_not_workflow(path):
    assert not is_workflow(path)


@pytest.mark.parametrize("path", [".github/workflows/a.yml", "x/.github/actions/b/action.yaml"])
def test_is_workflow(path):
    assert is_workflow(path)


def test_invalid_yaml_is_reported():
    assert reader.read(".github/workflows/a.yml", b"{").unread


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in reader.read(".github/a.yml", b"run: |\n  " + data).mentions)


@given(st.lists(st.sampled_from(["pip install torch", "# x", "echo a", ""]), min_size=1, max_size=8), st.integers(1, 5))
def test_mentions_are_on_install_lines(rows, indent):
    text = "run: |\n  :\n".replace("  :", " " * indent + ":") + "".join(f"{' ' * indent}{row}\n" for row in rows)
    expected = [("torch", n, indent + 13, "workflow") for n, row in enumerate(rows, 3) if row.startswith("pip")]
    assert mention_positions(text) == expected
