from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.cog import is_cog, read

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


def seen(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(item.name, item.line, item.column, item.section) for item in read("cog.yaml", data).mentions]


@pytest.mark.parametrize(
    "text", ["", "build: 1\n", "build: [torch]\n", "python_packages: [torch]\n", "build: {run: x}\n"]
)
def test_other_shapes_give_nothing(text):
    found = read("cog.yaml", text.encode())
    assert (found.mentions, found.options, found.unread) == ((), (), ())


def test_what_is_no_yaml_is_told():
    assert [1] == [line for line, _ in read("cog.yaml", b"build: {a").unread]


def test_packages_and_what_commands_install():
    assert seen(TEXT) == [
        ("torch", 7, 8, "cog"),
        ("xformers", 10, 7, "cog"),
        ("nvdiffrast", 12, 62, "pip"),
        ("kaolin", 15, 21, "pip"),
        ("spconv-cu118", 18, 20, "pip"),
    ]


def test_indexes_files_and_clones():
    found = read("cog.yaml", TEXT.encode())
    assert [((), ("requirements.txt",), 5), (("https://host/whl/cu118",), (), 9)] == [
        (item.urls, item.includes, item.line) for item in found.options
    ]
    assert ["https://host/o/nvdiffrast.git"] == [item.url for item in found.submodules]
    assert {"git", "pip"} == {item.name for item in found.commands}


def test_is_cog():
    assert is_cog("a/cog.yaml")
    assert not is_cog("incog.yaml")


@given(st.binary(max_size=300))
def test_random_bytes_are_survived(data):
    assert all(item.line >= 1 for item in read("cog.yaml", b"build:\n  run:\n  - " + data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "# x", "numpy"]), max_size=8), st.integers(2, 6))
def test_what_is_written_is_read(rows, indent):
    text = "build:\n  python_packages:\n" + "".join(f"{' ' * indent}- {row}\n" for row in rows)
    wanted = [(number, indent + 3) for number, row in enumerate(rows, 3) if row[0] != "#"]
    assert wanted == [(line, column) for _, line, column, _ in seen(text)]
