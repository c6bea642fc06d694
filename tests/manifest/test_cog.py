from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.cog import reader

TEXT = """build:
  gpu: true
  cuda: "11.8"
  python_version: "3.10"
  python_requirements: requirements.txt
  python_packages:
    - "torch==2.0.1"
    # - gsplat
    - --extra-index-url https://host/whl/cu118
    - xformers==0.0.20
  run:
    - git clone https://host/o/nvdiffrast.git && pip install ./nvdiffrast
    - command: |
        export A=1
        pip install kaolin
      mounts: []
  pre_install:
    - 'pip install spconv-cu118'
predict: predict.py:Predictor
"""


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(entry.name, entry.line, entry.column, entry.section) for entry in reader.read("cog.yaml", data).mentions]


@pytest.mark.parametrize(
    "text", ["", "build: 1\n", "build: [torch]\n", "python_packages: [torch]\n", "build: {run: x}\n"]
)
def test_other_shapes_are_ignored(text):
    result = reader.read("cog.yaml", text.encode())
    assert (result.mentions, result.options, result.unread) == ((), (), ())


def test_invalid_yaml_is_reported():
    assert [1] == [line for line, _ in reader.read("cog.yaml", b"build: {a").unread]


def test_packages_and_what_commands_install():
    assert mention_positions(TEXT) == [
        ("torch", 7, 8, "cog"),
        ("xformers", 10, 7, "cog"),
        ("nvdiffrast", 12, 62, "pip"),
        ("kaolin", 15, 21, "pip"),
        ("spconv-cu118", 18, 20, "pip"),
    ]


def test_indexes_files_and_clones():
    result = reader.read("cog.yaml", TEXT.encode())
    assert [((), ("requirements.txt",), 5), (("https://host/whl/cu118",), (), 9)] == [
        (entry.urls, entry.includes, entry.line) for entry in result.options
    ]
    assert ["https://host/o/nvdiffrast.git"] == [entry.url for entry in result.submodules]
    assert {"git", "pip"} == {entry.name for entry in result.commands}


def test_is_cog():
    assert reader.matches("a/cog.yaml")
    assert not reader.matches("incog.yaml")


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in reader.read("cog.yaml", b"build:\n  run:\n  - " + data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "# x", "numpy"]), max_size=8), st.integers(2, 6))
def test_round_trip(rows, indent):
    text = "build:\n  python_packages:\n" + "".join(f"{' ' * indent}- {row}\n" for row in rows)
    expected = [(number, indent + 3) for number, row in enumerate(rows, 3) if row[0] != "#"]
    assert expected == [(line, column) for _, line, column, _ in mention_positions(text)]
