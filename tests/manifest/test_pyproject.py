from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.pyproject import is_pyproject, read, syntax_error

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


def seen(text: str):
    found = read("pyproject.toml", text.encode()).mentions
    return [(item.name, item.version, item.line, item.column, item.section) for item in found]


def test_requirements_of_every_tool_with_their_places():
    assert seen(TEXT) == [
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


def test_indexes_begin_at_their_key_and_end_at_their_address():
    options = read("pyproject.toml", TEXT.encode()).options
    assert {(item.urls[0], item.line, item.column, item.last_line) for item in options} == {
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
def test_other_shapes_give_nothing(text):
    found = read("pyproject.toml", text.encode())
    assert (found.mentions, found.options, found.unread) == ((), (), ())


@pytest.mark.parametrize("extras", ["3", "true", "'x'", "{a = 1}"])
def test_extras_that_are_no_list_are_none(extras):
    """Regression: a number as extras aborted the scan."""
    (found,) = read("pyproject.toml", f"tool.poetry.dependencies.a = {{extras = {extras}}}\n".encode()).mentions
    assert frozenset() == found.extras


def test_inline_tables_are_read_as_well():
    assert seen('project = {dependencies = ["torch"]}\n') == [("torch", "", 1, 29, "project")]


@pytest.mark.parametrize(
    "data", [b"a = ", b"\xff", b"a = " + b"[" * 20_000, b"a = " + b"1" * 20_000, b"a.b = 1\na.b.c = 2\n"]
)
def test_what_is_no_toml_is_told(data):
    assert syntax_error(data)
    assert [line for line, _ in read("pyproject.toml", data).unread] == [1]


def test_is_a_pyproject():
    assert is_pyproject("a/pyproject.toml")
    assert not is_pyproject("project.toml")


@given(st.binary(max_size=200))
def test_random_bytes_are_survived(data):
    assert all(item.line >= 1 for item in read("pyproject.toml", b"[project]\n" + data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "# torch", "größe"]), max_size=8), st.sampled_from(["'", '"']))
def test_what_is_written_is_read(rows, quote):
    lines = [row if row[0] == "#" else f"  {quote}{row}{quote}," for row in rows]
    text = "[project]\ndependencies = [\n" + "".join(f"{line}\n" for line in lines) + "]\n"
    wanted = [(number, 4) for number, row in enumerate(rows, 3) if row[0] != "#"]
    assert [(line, column) for _, _, line, column, _ in seen(text)] == wanted


def test_an_index_without_an_address_is_none():
    assert () == read("pyproject.toml", b'[tool.uv]\nindex-url = ""\n').options


def test_what_would_take_the_parser_minutes_is_told():
    assert "nests too deeply" in read("pyproject.toml", b"a" + b".a" * 100_000 + b" = 1\n").unread[0][1]


def test_many_tables_with_the_same_requirement_have_each_its_own_place():
    """Regression: searching the whole file for each of them took quadratic time."""
    text = "".join(f'[tool.hatch.envs.e{number}]\ndependencies = ["torch"]\n' for number in range(3000))

    found = read("pyproject.toml", text.encode())

    assert [2 * number + 2 for number in range(3000)] == [item.line for item in found.mentions]


def test_a_key_in_the_first_line_has_its_place():
    found = read("pyproject.toml", b"tool.poetry.dependencies.torch = '1'\n")

    assert [("torch", 1)] == [(item.name, item.line) for item in found.mentions]


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
def test_pixi_in_a_file_of_its_own_and_in_a_part(above):
    text = "".join(f"[{above}{line[1:]}\n" if line.startswith("[") else f"{line}\n" for line in PIXI.splitlines())
    found = read("pyproject.toml" if above else "pixi.toml", text.encode()).mentions
    assert [(item.name, item.section, item.line) for item in found] == [
        ("pytorch-cuda", "conda", 2),
        ("gsplat", "pixi", 4),
        ("cudnn", "conda", 6),
        ("kaolin", "pixi", 8),
        ("xformers", "pip", 10),
        ("apex", "pip", 11),
    ]
