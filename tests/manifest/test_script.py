from __future__ import annotations

import pytest

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.manifest.script import LineIndex, ManifestBuilder, manifest_from_commands


def read_script(text: str, section: str = ""):
    return manifest_from_commands("x.sh", "shell", text.encode(), shell_commands(text), section=section)


def test_commands_and_installs_are_separate():
    result = read_script("export A=1\nnvidia-smi -L\nsudo apt install git\npip install torch\n")
    assert [(entry.name, entry.arguments, entry.line, entry.column) for entry in result.commands] == [
        ("nvidia-smi", ("-L",), 2, 1),
        ("apt", ("install", "git"), 3, 6),
        ("pip", ("install", "torch"), 4, 1),
    ]


def test_with_a_section_only_installs_count():
    result = read_script(
        "nvidia-smi\ngit clone https://host/o/r.git\npip install torch\nconda install cuda\n", "documentation"
    )
    assert (result.commands, result.submodules) == ((), ())
    assert [(entry.name, entry.section) for entry in result.mentions] == [
        ("torch", "documentation"),
        ("cuda", "documentation:conda"),
    ]


@pytest.mark.parametrize("spelling", ["$V", "${V}", '"$V"'])
def test_variables_are_expanded(spelling):
    (result,) = read_script(f"V=2.1.0+cu121\npip install torch=={spelling.strip(chr(34))}\n").mentions
    assert (result.version, result.line, result.column) == ("==2.1.0+cu121", 2, 13)


def test_unknown_and_computed_variables_are_unchanged():
    result = read_script("V=$(date)\npip install a==$V b==$W\n").mentions
    assert [entry.version for entry in result] == ["==$V", "==$W"]


def test_exponential_variables_are_limited():
    lines = ["A0=" + "x" * 100, *(f"A{n}=$A{n - 1}$A{n - 1}$A{n - 1}$A{n - 1}" for n in range(1, 60))]
    result = read_script("\n".join([*lines, "pip install torch==$A59"]))
    assert all(len(entry.text) <= 2048 for entry in result.mentions)


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
    (result,) = read_script(text).submodules
    assert (result.path, result.url) == (path, url)


@pytest.mark.parametrize(
    "text", ["git pull https://host/o/r", "echo git clone https://host/r", "# git clone https://h/r"]
)
def test_no_clones(text):
    assert read_script(text).submodules == ()


def test_dot_after_cd_is_the_folder():
    names = [entry.name for entry in read_script("cd ops && pip install .\ncd ..\npip install .\n").mentions]
    assert names == ["ops"]


def test_requirement_entry():
    builder = ManifestBuilder()
    builder.add_requirement("torch [opt] >=2 ; python_version > '3'", 4, 7, "project")
    (result,) = builder.mentions
    assert (result.name, result.extras, result.line, result.column, result.section) == (
        "torch",
        {"opt"},
        4,
        7,
        "project",
    )
    assert (result.version, builder.options) == (">=2", [])


def test_requirement_entry_with_option():
    builder = ManifestBuilder()
    builder.add_requirement("--extra-index-url https://host/", 1, 1, "pip")
    (option,) = builder.options
    assert (builder.mentions, option.urls) == ([], ("https://host/",))


def test_line_index_counts_only_line_feeds():
    places = LineIndex("a\u2028b\nc\x0cd")
    assert [places.position(index) for index in (0, 2, 4, 6)] == [(1, 1), (1, 3), (2, 1), (2, 3)]


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
    assert [entry.name for entry in read_script(text).mentions] == names


@pytest.mark.parametrize(
    ("text", "expected"),
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
def test_nested_shell(text, expected):
    assert [(entry.name, entry.line, entry.column) for entry in read_script(text).mentions] == expected


def test_nested_shells_are_limited():
    text = "pip install a"
    for _ in range(8):
        text = "bash -c '" + text.replace("'", "'\\''") + "'"
    assert read_script(text).mentions == ()


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
def test_setup_py_install(text, name):
    assert [entry.name for entry in read_script(text).mentions] == [name]


@pytest.mark.parametrize(
    "text",
    ["python setup.py install", "cd a && python setup.py bdist", "cd a/..; pip install .", "cd $X; pip install ."],
)
def test_folder_without_name_is_ignored(text):
    assert read_script(text).mentions == ()


@pytest.mark.parametrize(
    ("text", "name", "url"),
    [
        ("git clone https://h/o/kit /t/x && pip install /t/x", "kit", "https://h/o/kit"),
        ("git clone https://h/o/kit\ncd kit\npip install .", "kit", "https://h/o/kit"),
        ("git clone https://h/o/kit; pip install kit/sub/ext/", "ext", "https://h/o/kit#subdirectory=sub/ext"),
        ("git clone https://h/o/kit; pip install ./kitten", "kitten", "./kitten"),
    ],
)
def test_cloned_folder_gets_the_clone_url(text, name, url):
    (result,) = read_script(text).mentions
    assert (result.name, result.url) == (name, url)


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("export PIP_EXTRA_INDEX_URL=https://a/b\n", [("https://a/b",)]),
        ("UV_INDEX='https://a https://b' uv pip install x\n", [("https://a",), ("https://b",)]),
        ("PIP_FIND_LINKS=https://a\n", [("https://a",)]),
        ("PIP_NO_CACHE_DIR=https://a\nMY_PIP_INDEX_URL=https://a\n", []),
    ],
)
def test_index_in_environment_variable(text, urls):
    assert [option.urls for option in read_script(text).options] == urls


@pytest.mark.parametrize("data", [b"", b"make all", b"additional parts of pip"])
def test_page_without_installer_is_not_split(data):
    def never():
        raise AssertionError
        yield

    assert manifest_from_commands("a.md", "markdown", data, never(), section="documentation") == ParsedManifest(
        "a.md", "markdown", data
    )


@pytest.mark.parametrize("text", ["pip install a", "uv add a", "conda create -n x a", "mim install a"])
def test_page_with_installer(text):
    result = read_script(text, "documentation")

    assert "a" in [mention.name for mention in result.mentions]


def test_an_index_counts_without_an_installer():
    result = read_script("export PIP_INDEX_URL=https://a.example/simple", "documentation")

    assert [option.urls for option in result.options] == [("https://a.example/simple",)]
