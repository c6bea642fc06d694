from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.conda import is_conda_environment, reader

TEXT = """name: x
channels:
  - pytorch
  - nvidia/label/cuda-12.1.1
dependencies:
  - python=3.10   # the interpreter
  # - cudatoolkit
  - pytorch=2.0.1=py3.9_cuda11.8_cudnn8_0
  - "pytorch-cuda = 11.8"
  - nvidia/label/cuda-12.1.1::cuda-nvcc
  - pip:
      - torch==2.1.0+cu121
      - --extra-index-url https://host/whl/cu121
      - -r requirements.txt
      - git+https://host/o/gsplat.git
prefix: /home/x
"""


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [
        (entry.name, entry.line, entry.column, entry.section) for entry in reader.read("environment.yml", data).mentions
    ]


def test_dependencies_of_conda_and_pip():
    assert mention_positions(TEXT) == [
        ("python", 6, 5, "conda"),
        ("pytorch", 8, 5, "conda"),
        ("pytorch-cuda", 9, 6, "conda"),
        ("cuda-nvcc", 10, 5, "conda"),
        ("torch", 12, 9, "pip"),
        ("gsplat", 15, 9, "pip"),
    ]


def test_channels_and_options():
    options = reader.read("environment.yml", TEXT.encode()).options
    assert [(entry.urls, entry.includes, entry.line, entry.column) for entry in options] == [
        (("pytorch",), (), 3, 5),
        (("nvidia/label/cuda-12.1.1",), (), 4, 5),
        (("https://host/whl/cu121",), (), 13, 9),
        ((), ("requirements.txt",), 14, 9),
    ]


def test_version_and_build_are_retained():
    result = reader.read("environment.yml", TEXT.encode()).mentions[1]
    assert result.version == "=2.0.1=py3.9_cuda11.8_cudnn8_0"


def test_other_yaml_files_are_ignored():
    assert mention_positions("services:\n  - torch\n") == []
    assert mention_positions("dependencies: torch\nchannels: {a: b}\n") == []


def test_invalid_yaml_is_reported():
    assert [line for line, _ in reader.read("environment.yml", b"dependencies: [").unread] == [1]


@pytest.mark.parametrize("path", ["environ.yml", "config.yaml", "environment.txt", "environments/a.yml"])
def test_is_not_conda_environment(path):
    assert not is_conda_environment(path)


@pytest.mark.parametrize(
    "path", ["environment.yml", "a/environment_novis.yaml", "conda.yaml", "env.yml", "dev-environment.yml"]
)
def test_is_conda_environment(path):
    assert is_conda_environment(path)


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in reader.read("environment.yml", b"dependencies:\n - " + data).mentions)


@given(st.lists(st.sampled_from(["torch", "cuda-nvcc=12", "# x", "numpy"]), max_size=8), st.integers(0, 4))
def test_round_trip(rows, indent):
    text = "dependencies:\n" + "".join(f"{' ' * indent}- {row}\n" for row in rows)
    expected = [(number, indent + 3) for number, row in enumerate(rows, 2) if row[0] != "#"]
    assert [(line, column) for _, line, column, _ in mention_positions(text)] == expected


def test_empty_channel_is_ignored():
    """Regression: an empty channel aborted the scan."""
    assert () == reader.read("environment.yml", b"channels:\n  -\n  - ''\n").options
