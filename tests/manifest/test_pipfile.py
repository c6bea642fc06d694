from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.pipfile import reader

TEXT = """[[source]]
url = "https://host/simple"
name = "main"

[[source]]
name = "pytorch"
url = "https://host/whl/cu121"

[packages]
# gsplat = "*"
torch = {version = "==2.1.0", index = "pytorch"}
"flash-attn" = "*"
xformers = {extras = ["a"], git = "https://host/x.git", ref = "main"}
spconv = {file = "https://host/spconv_cu120.whl"}

[dev-packages]
torch = "*"

[of-our-own]
nerfacc = "~=0.5"

[requires]
python_version = "3.10"

[scripts]
train = "python train.py"

[pipenv]
allow_prereleases = true
"""


def mention_positions(text: str):
    result = reader.read("Pipfile", text.encode())
    return [(entry.name, entry.version, entry.url, entry.line, entry.column) for entry in result.mentions]


@pytest.mark.parametrize("text", ["", "packages = 1\n", "source = 'x'\npackages = []\n", "[[source]]\nurl = 3\n"])
def test_other_shapes_are_ignored(text):
    result = reader.read("Pipfile", text.encode())
    assert (result.mentions, result.options, result.unread) == ((), (), ())


@pytest.mark.parametrize("data", [b"[packages", b"\xff", b"a = " + b"[" * 20_000])
def test_invalid_toml_is_reported(data):
    assert [1] == [line for line, _ in reader.read("Pipfile", data).unread]


def test_packages_of_every_category():
    assert mention_positions(TEXT) == [
        ("torch", "==2.1.0", "", 11, 1),
        ("flash-attn", "*", "", 12, 2),
        ("xformers", "", "git+https://host/x.git@main", 13, 1),
        ("spconv", "", "https://host/spconv_cu120.whl", 14, 1),
        ("torch", "*", "", 17, 1),
        ("nerfacc", "~=0.5", "", 20, 1),
    ]


def test_other_categories_have_their_own_section():
    result = reader.read("Pipfile", TEXT.encode()).mentions

    assert ["pipenv"] * 4 + ["pipenv-category:dev-packages", "pipenv-category:of-our-own"] == [
        i.section for i in result
    ]


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ("version = '*'", "x *"),
        ("version = '>=1', markers = \"python_version < '3.9'\"", "x>=1; (python_version < '3.9')"),
        ("version = '*', sys_platform = \"== 'win32'\"", "x; (sys_platform == 'win32')"),
        (
            "version = '*', markers = \"a or b\", os_name = \"== 'nt'\"",
            "x; (a or b) and (os_name == 'nt')",
        ),
    ],
)
def test_conditions_are_part_of_the_text(details, text):
    (result,) = reader.read("Pipfile", f"[packages]\nx = {{{details}}}\n".encode()).mentions

    assert (result.text, result.name) == (text, "x")


def test_indexes_are_options():
    options = reader.read("Pipfile", TEXT.encode()).options
    assert [("https://host/simple", 2), ("https://host/whl/cu121", 7)] == [(o.urls[0], o.last_line) for o in options]


def test_is_a_pipfile():
    assert reader.matches("a/Pipfile")
    assert not reader.matches("Pipfile.lock")


@given(st.binary(max_size=200))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in reader.read("Pipfile", b"[packages]\n" + data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat", "numpy"]), max_size=3, unique=True), st.sampled_from(["'", '"']))
def test_round_trip(names, quote):
    text = "[packages]\n" + "".join(f"{name} = {quote}*{quote}\n" for name in names)
    assert [(name, "*", "", number, 1) for number, name in enumerate(names, 2)] == mention_positions(text)
