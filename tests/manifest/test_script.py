from __future__ import annotations

import pytest

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import Manifest
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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('P="a b>=1"\npip install $P c\n', ["a", "b", "c"]),
        ("PIP='python -m pip'\n$PIP install a\n", ["a"]),
        ("P=\npip install $P a\n", ["a"]),
        ("pip install ${P:-a}\n", ["a"]),
        ("for p in a b; do\n  pip install $p\ndone\n", ["a", "b"]),
        ("for p in $(ls); do pip install $p; done\n", []),
        ('P="a b"\npip install "$P"\n', ["a"]),
        ('P=(\n  "a" # one\n  "b>=1 c"\n)\nfor p in "${P[@]}"; do\n  pip install $p\ndone\n', ["a", "b", "c"]),
        ('P=(a)\npip install "${P[*]}" b\n', ["a", "b"]),
        ("P=(a; b | c & d)\npip install ${P[@]}\n", ["a", "b", "c", "d"]),
    ],
)
def test_a_variable_may_hold_several_words(text, names):
    assert [item.name for item in run(text).mentions] == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('bash -c "cd x && pip install a"', [("a", 1, 30)]),
        ("sudo /bin/sh -lc 'pip install a'", [("a", 1, 31)]),
        ("bash -c", []),
        ("echo bash", []),
        ("attempt 'A=1 pip install a' 'it failed'", [("a", 1, 26)]),
        ("log_error 'pip install a'", []),
        ("attempt 'to pip install a'", []),
    ],
)
def test_a_shell_inside_of_a_command(text, found):
    assert [(item.name, item.line, item.column) for item in run(text).mentions] == found


def test_shells_inside_of_each_other_end():
    text = "pip install a"
    for _ in range(8):
        text = "bash -c '" + text.replace("'", "'\\''") + "'"
    assert run(text).mentions == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cd a/ext && python setup.py install", "ext"),
        ("python3 a/ext/setup.py develop", "ext"),
        ("cd a; cd ext\npip install -e .", "ext"),
        ("cd a/ext; cd ..; pip install .", "a"),
        ("cd /x/ext && pip install .", "ext"),
    ],
)
def test_a_folder_that_is_built(text, name):
    assert [item.name for item in run(text).mentions] == [name]


@pytest.mark.parametrize(
    "text",
    ["python setup.py install", "cd a && python setup.py bdist", "cd a/..; pip install .", "cd $X; pip install ."],
)
def test_a_folder_without_a_name_is_no_mention(text):
    assert run(text).mentions == ()


@pytest.mark.parametrize(
    ("text", "name", "url"),
    [
        ("git clone https://h/o/kit /t/x && pip install /t/x", "kit", "https://h/o/kit"),
        ("git clone https://h/o/kit\ncd kit\npip install .", "kit", "https://h/o/kit"),
        ("git clone https://h/o/kit; pip install kit/sub/ext/", "ext", "https://h/o/kit#subdirectory=sub/ext"),
        ("git clone https://h/o/kit; pip install ./kitten", "kitten", "./kitten"),
    ],
)
def test_a_clone_gives_a_folder_its_address(text, name, url):
    (found,) = run(text).mentions
    assert (found.name, found.url) == (name, url)


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("export PIP_EXTRA_INDEX_URL=https://a/b\n", [("https://a/b",)]),
        ("UV_INDEX='https://a https://b' uv pip install x\n", [("https://a",), ("https://b",)]),
        ("PIP_FIND_LINKS=https://a\n", [("https://a",)]),
        ("PIP_NO_CACHE_DIR=https://a\nMY_PIP_INDEX_URL=https://a\n", []),
    ],
)
def test_an_index_of_the_environment(text, urls):
    assert [option.urls for option in run(text).options] == urls


@pytest.mark.parametrize("data", [b"", b"make all", b"additional parts of pip"])
def test_a_page_without_the_words_of_an_installer_is_not_even_cut(data):
    def never():
        raise AssertionError
        yield

    assert manifest_of("a.md", "markdown", data, never(), section="documentation") == Manifest("a.md", "markdown", data)


@pytest.mark.parametrize("text", ["pip install a", "uv add a", "conda create -n x a", "mim install a"])
def test_a_page_with_the_words_of_an_installer(text):
    found = run(text, "documentation")

    assert "a" in [mention.name for mention in found.mentions]


def test_an_index_counts_without_an_installer():
    found = run("export PIP_INDEX_URL=https://a.example/simple", "documentation")

    assert [option.urls for option in found.options] == [("https://a.example/simple",)]
