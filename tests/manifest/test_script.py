from __future__ import annotations

import pytest

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.script import Places, manifest_of, one_mention


def run(text: str, section: str = ""):
    return manifest_of("x.sh", "shell", text.encode(), shell_commands(text), section=section)


def test_other_commands_are_kept_apart_from_installs():
    found = run("export A=1\nnvidia-smi -L\nsudo apt install git\npip install torch\n")
    assert [(item.name, item.arguments, item.line, item.column) for item in found.commands] == [
        ("nvidia-smi", ("-L",), 2, 1),
        ("apt", ("install", "git"), 3, 6),
        ("pip", ("install", "torch"), 4, 1),
    ]


def test_with_a_section_only_installs_count():
    found = run("nvidia-smi\ngit clone https://host/o/r.git\npip install torch\nconda install cuda\n", "documentation")
    assert (found.commands, found.submodules) == ((), ())
    assert [(item.name, item.section) for item in found.mentions] == [
        ("torch", "documentation"),
        ("cuda", "documentation:conda"),
    ]


@pytest.mark.parametrize("spelling", ["$V", "${V}", '"$V"'])
def test_variables_that_the_script_sets_are_filled_in(spelling):
    (found,) = run(f"V=2.1.0+cu121\npip install torch=={spelling.strip(chr(34))}\n").mentions
    assert (found.version, found.line, found.column) == ("==2.1.0+cu121", 2, 13)


def test_unknown_and_computed_variables_stay():
    found = run("V=$(date)\npip install a==$V b==$W\n").mentions
    assert [item.version for item in found] == ["==$V", "==$W"]


def test_a_bomb_of_variables_stays_small():
    lines = ["A0=" + "x" * 100, *(f"A{n}=$A{n - 1}$A{n - 1}$A{n - 1}$A{n - 1}" for n in range(1, 60))]
    found = run("\n".join([*lines, "pip install torch==$A59"]))
    assert all(len(item.text) <= 2048 for item in found.mentions)


@pytest.mark.parametrize(
    ("text", "path", "url"),
    [
        ("git clone https://host/o/r.git", "r", "https://host/o/r.git"),
        ("git clone --recursive -j8 https://host/o/r.git ext/r", "ext/r", "https://host/o/r.git"),
        ("git clone git@host:o/r.git", "r", "git@host:o/r.git"),
        ("cd x && git clone https://host/o/r", "r", "https://host/o/r"),
        ("git submodule add https://host/o/r.git sub/r", "sub/r", "https://host/o/r.git"),
    ],
)
def test_clones(text, path, url):
    (found,) = run(text).submodules
    assert (found.path, found.url) == (path, url)


@pytest.mark.parametrize(
    "text", ["git pull https://host/o/r", "echo git clone https://host/r", "# git clone https://h/r"]
)
def test_no_clones(text):
    assert run(text).submodules == ()


def test_a_folder_that_was_entered_gives_the_dot_its_name():
    names = [item.name for item in run("cd ops && pip install .\ncd ..\npip install .\n").mentions]
    assert names == ["ops"]


def test_one_entry_of_a_list():
    ((found,), options) = one_mention("torch [opt] >=2 ; python_version > '3'", 4, 7, "project")
    assert (found.name, found.extras, found.line, found.column, found.section) == ("torch", {"opt"}, 4, 7, "project")
    assert (found.version, options) == (">=2", [])


def test_one_entry_may_be_an_option():
    mentions, (option,) = one_mention("--extra-index-url https://host/", 1, 1, "pip")
    assert (mentions, option.urls) == ([], ("https://host/",))


def test_places_count_only_line_feeds():
    places = Places("a\u2028b\nc\x0cd")
    assert [places.of(index) for index in (0, 2, 4, 6)] == [(1, 1), (1, 3), (2, 1), (2, 3)]
