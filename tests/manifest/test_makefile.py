from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.makefile import is_makefile, reader

TEXT = """PIP ?= pip3
PYTHON := python
LONG = /opt/conda/envs/somewhere/bin/pip
NOTE = pip install of-a-variable

.PHONY: install  # pip install of-a-comment
install: pip install of-a-target
\t# pip install commented
\t@echo pip install echoed
\tpip install torch
\t@-$(PIP) install gsplat \\
\t  xformers
\t${PYTHON} -m pip install flash-attn; pip install numpy
\t$(LONG) install unknown
"""


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(entry.name, entry.line, entry.column) for entry in reader.read("Makefile", data).mentions]


def test_only_recipes_install():
    assert mention_positions(TEXT) == [
        ("torch", 10, 14),
        ("gsplat", 11, 19),
        ("xformers", 12, 4),
        ("flash-attn", 13, 27),
        ("numpy", 13, 51),
    ]


def test_options_of_a_recipe():
    text = b"a:\n\tpip install -r r.txt --extra-index-url https://host/simple\n"
    options = {entry.urls: (entry.line, entry.column) for entry in reader.read("Makefile", text).options if entry.urls}
    assert options == {("https://host/simple",): (2, 23)}


@pytest.mark.parametrize("path", ["Makefile.am", "makefile.py", "a/mk", "CMakeLists.txt"])
def test_is_not_makefile(path):
    assert not is_makefile(path)


@pytest.mark.parametrize("path", ["Makefile", "a/GNUmakefile", "rules.mk"])
def test_is_makefile(path):
    assert is_makefile(path)


@given(
    st.lists(
        st.sampled_from(
            ["\t", " ", "@", "\\\n", "\n", "\r\n", "$(A)", "A=pip", "pip", "install", "torch", ":", "'", '"']
        )
    )
)
def test_every_position_lies_on_its_word(parts):
    text = "".join(parts)
    lines = text.split("\n")
    for name, line, column in mention_positions(text):
        assert lines[line - 1][column - 1 :].startswith((name, "$(A)", "'", '"', "\\"))
