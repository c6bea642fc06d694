from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.setup_py import read, reader

TEXT = '''"""install_requires=["docstring"]"""
# install_requires=["comment"]
import subprocess, sys, os
BASE = ["torch>=1.4", "numpy"]
MORE = BASE + ("gsplat",)
MORE += ["größe", 'xformers==1']
MORE.append("flash-attn")
extras = {"gpu": ["cupy-cuda12x"], "all": MORE}
unused = ["kaolin"]
subprocess.check_call([sys.executable, "-m", "pip", "install", "triton"])
os.system("pip install spconv-cu120 && ls")
V = "2"
setup(
    name="nvdiffrast",
    install_requires=MORE if True else [],
    setup_requires=[f"apex=={V}", "ninja==%s" % V],
    extras_require=extras,
    keywords=["torch"],
)
'''


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(entry.name, entry.line, entry.column, entry.section) for entry in read("setup.py", data).mentions]


def test_lists_are_traced_through_names_and_sums():
    lines = TEXT.split("\n")
    result = mention_positions(TEXT)
    assert all(lines[line - 1][column - 1 :].startswith(name) for name, line, column, _ in result)
    by_name = {(name, section): line for name, line, _, section in result}
    assert by_name[("torch", "install_requires")] == 4
    assert by_name[("gsplat", "install_requires")] == 5
    assert by_name[("xformers", "install_requires")] == 6
    assert by_name[("flash-attn", "install_requires")] == 7
    assert by_name[("cupy-cuda12x", "extras_require")] == 8
    assert by_name[("triton", "pip")] == 10
    assert by_name[("spconv-cu120", "pip")] == 11
    assert by_name[("apex", "setup_requires")] == 16
    assert by_name[("ninja", "setup_requires")] == 16


def test_other_strings_are_not_requirements():
    names = {name for name, _, _, _ in mention_positions(TEXT)}
    assert not names & {"kaolin", "nvdiffrast", "docstring", "comment", "ls"}


@pytest.mark.parametrize(
    "text",
    [
        'setup(**{"install_requires": ["torch"]})',
        "setup(install_requires=list(['torch']))",
        "setup(install_requires=[*['torch']])",
        "kw = dict(install_requires=['torch'])\nsetup(**kw)",
        "setup(install_requires='''\ntorch\n''')",
    ],
)
def test_other_spellings(text):
    assert [name for name, _, _, _ in mention_positions(text)] == ["torch"]


@pytest.mark.parametrize(
    "text",
    [
        "setup(install_requires=open('requirements.txt').readlines())",
        "a = b\nb = a\nsetup(install_requires=a)",
        "setup(install_requires=[x for x in ['torch']])",
        "setup(install_requires=None)",
        "print('install_requires')",
    ],
)
def test_computed_values_are_unknown(text):
    assert mention_positions(text) == []


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read("setup.py", b"open('ran', 'w')\nimport os\nos.system('touch ran')\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["print 'two'", "def", "x = 1\n  y", "# -*- coding: klingon -*-\n", "(" * 5000])
def test_invalid_python_is_reported(text):
    assert [line for line, _ in read("setup.py", text.encode()).unread] == [1]


def test_invalid_escapes_give_no_warning():
    assert mention_positions(r"setup(install_requires=['torch'], x='\d')") == [("torch", 1, 26, "install_requires")]


def test_exponential_names_terminate():
    lines = ["a0 = ['torch']", *(f"a{n} = a{n - 1} + a{n - 1}" for n in range(1, 60)), "setup(install_requires=a59)"]
    assert {name for name, _, _, _ in mention_positions("\n".join(lines))} <= {"torch"}


def test_long_sums_do_not_raise():
    text = "setup(install_requires=" + "+".join(["['torch']"] * 900) + ")"
    result = read("setup.py", text.encode())
    assert result.unread or len(result.mentions) == 900


def test_is_setup_py():
    assert reader.matches("a/setup.py")
    assert not reader.matches("setup.pyi")


@given(st.binary(max_size=200))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in read("setup.py", data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "größe"]), max_size=8), st.sampled_from(['"', "'", '"""']))
def test_round_trip(rows, quote):
    text = "setup(install_requires=[\n" + "".join(f"  {quote}{row}{quote},\n" for row in rows) + "])\n"
    expected = [(number, 3 + len(quote)) for number, row in enumerate(rows, 2)]
    assert [(line, column) for _, line, column, _ in mention_positions(text)] == expected
