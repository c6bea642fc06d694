from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.pyproject import read, reader

TEXT = """# "torch==2.1.0"
[build-system]
requires = ["setuptools", "torch"]

[project]
name = "numpy"
dependencies = [
    # "gsplat",
    "torch==2.1.0",  # why
    'xformers[x]>=1 ; python_version > "3"',
]
[project.optional-dependencies]
gpu = ["torch", "flash-attn @ https://host/a.whl"]

[dependency-groups]
dev = ["pytest", {include-group = "gpu"}]

[tool.uv]
find-links = ["https://host/whl/cu121.html"]
extra-index-url = [
  "https://host/simple",
]
[[tool.uv.index]]
name = "x"
url = "https://host/whl/cu118"
[tool.uv.sources]
gsplat = { git = "https://host/o/gsplat.git" }
torch = { index = "x" }

[tool.poetry.dependencies]
torchvision = "^0.16"
"torch.audio" = {version = "2.1", extras = ["a"]}
spconv = [{version = "1", python = "<3"}]
[tool.poetry.group.dev.dependencies]
kaolin = "*"
[[tool.poetry.source]]
url = "https://host/whl/cu117"
[tool.pdm.dev-dependencies]
t = ["nvdiffrast"]
[tool.hatch.envs.default]
dependencies = ["apex"]
[tool.pixi.dependencies]
cuda-nvcc = "12.*"
"""


def mention_positions(text: str):
    result = read("pyproject.toml", text.encode()).mentions
    return [(entry.name, entry.version, entry.line, entry.column, entry.section) for entry in result]


def test_requirements_of_every_tool():
    assert mention_positions(TEXT) == [
        ("setuptools", "", 3, 14, "build-system"),
        ("torch", "", 3, 28, "build-system"),
        ("torch", "==2.1.0", 9, 6, "project"),
        ("xformers", ">=1", 10, 6, "project"),
        ("torch", "", 13, 9, "optional"),
        ("flash-attn", "", 13, 18, "optional"),
        ("pytest", "", 16, 9, "optional"),
        ("gsplat", "", 27, 1, "uv"),
        ("torchvision", "^0.16", 31, 1, "poetry"),
        ("torch.audio", "2.1", 32, 2, "poetry"),
        ("spconv", "1", 33, 1, "poetry"),
        ("kaolin", "*", 35, 1, "poetry"),
        ("nvdiffrast", "", 39, 7, "pdm"),
        ("apex", "", 41, 18, "hatch"),
        ("cuda-nvcc", "12.*", 43, 1, "conda"),
    ]


def test_index_positions():
    options = read("pyproject.toml", TEXT.encode()).options
    assert {(entry.urls[0], entry.line, entry.column, entry.last_line) for entry in options} == {
        ("https://host/whl/cu121.html", 19, 1, 19),
        ("https://host/simple", 20, 1, 21),
        ("https://host/whl/cu118", 25, 1, 25),
        ("https://host/whl/cu117", 37, 1, 37),
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "project = 1\n",
        "[project]\ndependencies = 'torch'\n",
        "[project]\ndependencies = [1, {}]\n",
        "[tool]\nuv = []\npoetry = 'x'\n",
        "[tool.uv]\nindex = 'x'\nsources = 1\nfind-links = 3\n",
        "[[tool.poetry.source]]\n[tool.hatch]\nenvs = [1]\n",
    ],
)
def test_other_shapes_are_ignored(text):
    result = read("pyproject.toml", text.encode())
    assert (result.mentions, result.options, result.unread) == ((), (), ())


@pytest.mark.parametrize("extras", ["3", "true", "'x'", "{a = 1}"])
def test_extras_that_are_not_a_list_are_ignored(extras):
    """Regression: a number as extras aborted the scan."""
    (result,) = read("pyproject.toml", f"tool.poetry.dependencies.a = {{extras = {extras}}}\n".encode()).mentions
    assert frozenset() == result.extras


def test_inline_tables_are_read_as_well():
    assert mention_positions('project = {dependencies = ["torch"]}\n') == [("torch", "", 1, 29, "project")]


@pytest.mark.parametrize(
    "data", [b"a = ", b"\xff", b"a = " + b"[" * 20_000, b"a = " + b"1" * 20_000, b"a.b = 1\na.b.c = 2\n"]
)
def test_invalid_toml_is_reported(data):
    assert [line for line, _ in read("pyproject.toml", data).unread] == [1]


def test_is_a_pyproject():
    assert reader.matches("a/pyproject.toml")
    assert not reader.matches("project.toml")


@given(st.binary(max_size=200))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in read("pyproject.toml", b"[project]\n" + data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "# torch", "größe"]), max_size=8), st.sampled_from(["'", '"']))
def test_round_trip(rows, quote):
    lines = [row if row[0] == "#" else f"  {quote}{row}{quote}," for row in rows]
    text = "[project]\ndependencies = [\n" + "".join(f"{line}\n" for line in lines) + "]\n"
    expected = [(number, 4) for number, row in enumerate(rows, 3) if row[0] != "#"]
    assert [(line, column) for _, _, line, column, _ in mention_positions(text)] == expected


def test_index_without_url_is_ignored():
    assert () == read("pyproject.toml", b'[tool.uv]\nindex-url = ""\n').options


def test_deep_nesting_is_reported():
    assert "nests too deeply" in read("pyproject.toml", b"a" + b".a" * 100_000 + b" = 1\n").unread[0][1]


def test_equal_requirements_have_their_own_positions():
    """Regression: searching the whole file for each of them took quadratic time."""
    text = "".join(f'[tool.hatch.envs.e{number}]\ndependencies = ["torch"]\n' for number in range(3000))

    result = read("pyproject.toml", text.encode())

    assert [2 * number + 2 for number in range(3000)] == [entry.line for entry in result.mentions]


def test_position_of_key_in_first_line():
    result = read("pyproject.toml", b"tool.poetry.dependencies.torch = '1'\n")

    assert [("torch", 1)] == [(entry.name, entry.line) for entry in result.mentions]


PIXI = """[dependencies]
pytorch-cuda = { version = "11.8.*", channel = "pytorch" }
[pypi-dependencies]
gsplat = "*"
[feature.gpu.dependencies]
cudnn = "8"
[target.linux-64.pypi-dependencies]
kaolin = { git = "https://host/kaolin" }
[tasks]
one = "cd x && python -m pip install xformers"
two = { cmd = "pip install apex", depends-on = ["one"] }
three = { cmd = ["pip"] }
"""


@pytest.mark.parametrize("above", ["", "tool.pixi."])
def test_pixi_toml_and_pixi_table(above):
    text = "".join(f"[{above}{line[1:]}\n" if line.startswith("[") else f"{line}\n" for line in PIXI.splitlines())
    result = read("pyproject.toml" if above else "pixi.toml", text.encode()).mentions
    assert [(entry.name, entry.section, entry.line) for entry in result] == [
        ("pytorch-cuda", "conda", 2),
        ("gsplat", "pixi", 4),
        ("cudnn", "conda", 6),
        ("kaolin", "pixi", 8),
        ("xformers", "pip", 10),
        ("apex", "pip", 11),
    ]
