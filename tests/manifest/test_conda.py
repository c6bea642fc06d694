from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.conda import is_environment, read

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


def seen(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(item.name, item.line, item.column, item.section) for item in read("environment.yml", data).mentions]


def test_dependencies_of_conda_and_pip():
    assert seen(TEXT) == [
        ("python", 6, 5, "conda"),
        ("pytorch", 8, 5, "conda"),
        ("pytorch-cuda", 9, 6, "conda"),
        ("cuda-nvcc", 10, 5, "conda"),
        ("torch", 12, 9, "pip"),
        ("gsplat", 15, 9, "pip"),
    ]


def test_channels_and_options():
    options = read("environment.yml", TEXT.encode()).options
    assert [(item.urls, item.includes, item.line, item.column) for item in options] == [
        (("pytorch",), (), 3, 5),
        (("nvidia/label/cuda-12.1.1",), (), 4, 5),
        (("https://host/whl/cu121",), (), 13, 9),
        ((), ("requirements.txt",), 14, 9),
    ]


def test_version_and_build_are_kept():
    found = read("environment.yml", TEXT.encode()).mentions[1]
    assert found.version == "=2.0.1=py3.9_cuda11.8_cudnn8_0"


def test_another_yaml_file_gives_nothing():
    assert seen("services:\n  - torch\n") == []
    assert seen("dependencies: torch\nchannels: {a: b}\n") == []


def test_broken_yaml_is_told():
    assert [line for line, _ in read("environment.yml", b"dependencies: [").unread] == [1]


@pytest.mark.parametrize("path", ["environ.yml", "config.yaml", "environment.txt", "environments/a.yml"])
def test_is_no_environment(path):
    assert not is_environment(path)


@pytest.mark.parametrize(
    "path", ["environment.yml", "a/environment_novis.yaml", "conda.yaml", "env.yml", "dev-environment.yml"]
)
def test_is_an_environment(path):
    assert is_environment(path)


@given(st.binary(max_size=300))
def test_random_bytes_are_survived(data):
    assert all(item.line >= 1 for item in read("environment.yml", b"dependencies:\n - " + data).mentions)


@given(st.lists(st.sampled_from(["torch", "cuda-nvcc=12", "# x", "numpy"]), max_size=8), st.integers(0, 4))
def test_what_is_written_is_read(rows, indent):
    text = "dependencies:\n" + "".join(f"{' ' * indent}- {row}\n" for row in rows)
    wanted = [(number, indent + 3) for number, row in enumerate(rows, 2) if row[0] != "#"]
    assert [(line, column) for _, line, column, _ in seen(text)] == wanted


def test_a_channel_without_a_name_is_none():
    """Regression: an empty channel aborted the scan."""
    assert () == read("environment.yml", b"channels:\n  -\n  - ''\n").options
