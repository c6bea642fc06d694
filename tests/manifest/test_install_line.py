from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.install_line import installation, name_of, shell_commands


def texts(script: str) -> list[list[str]]:
    return [[word.text for word in command] for command in shell_commands(script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("# pip install x\n", []),
        ("a b\nc\n", [["a", "b"], ["c"]]),
        ("a; b && c || d | e & f\n", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("(a; b)\n", [["a"], ["b"]]),
        ("a \\\n  b\\\nc\n", [["a", "bc"]]),
        ("a \\\r\n  b\r\n", [["a", "b"]]),
        ("a 'b c' \"d e\" f\\ g\n", [["a", "b c", "d e", "f g"]]),
        ("a 'b # c; d'\n", [["a", "b # c; d"]]),
        ('a "b \\" c" ""\n', [["a", 'b " c', ""]]),
        ("a b#c # d\n", [["a", "b#c"]]),
        ("a 2>&1 >out b >> log < in &> all\n", [["a", "b"]]),
        ("a 'x>1' y>=2 z<3\n", [["a", "x>1", "y>=2", "z<3"]]),
        ("a $(b; c | d) `e; f` g\n", [["a", "$(b; c | d)", "`e; f`", "g"]]),
        ("cat <<EOF > f\npip install x\nEOF\na\n", [["cat"], ["a"]]),
        ("cat <<-'END'\n\tb\n\tEND\na\n", [["cat"], ["a"]]),
        ("cat <<EOF\nnever closed\n", [["cat"]]),
        ("a 'never closed\nb\n", [["a", "never closed\nb\n"]]),
    ],
)
def test_commands_and_words(script, expected):
    assert texts(script) == expected


def test_places_are_counted_from_where_the_text_starts():
    found = shell_commands("ä 'b' \\\n  c; d", line=5, column=10)

    assert [[(word.text, word.line, word.column) for word in command] for command in found] == [
        [("ä", 5, 10), ("b", 5, 12), ("c", 6, 3)],
        [("d", 6, 6)],
    ]


def test_a_word_over_two_lines_knows_both():
    ((_, word),) = shell_commands("a 'b\nc'\n")

    assert (word.line, word.last_line) == (1, 2)


def installed(command: str):
    (words,) = shell_commands(command)
    return installation(words)


@pytest.mark.parametrize(
    "command",
    [
        "echo pip install x",
        "pip uninstall x",
        "pip --version",
        "pip",
        "npm install x",
        "apt-get install python3-pip",
        "conda activate x",
        "install x",
        "pipx install x",
        "poetry install x",
        "uv sync x",
        "git clone https://host/pip install",
    ],
)
def test_installs_nothing(command):
    assert installed(command) is None


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("pip install x", "pip"),
        ("pip3.10 -q install x", "pip"),
        ("/opt/conda/bin/pip install x", "pip"),
        ("python3 -m pip install x", "pip"),
        ("sudo -H pip install x", "pip"),
        ("A=1 B='2 3' pip install x", "pip"),
        ("conda run -n env pip install x", "pip"),
        ("uv pip install x", "uv"),
        ("uv add x", "uv"),
        ("poetry add --source cu x", "pip"),
        ("pdm add x", "pip"),
        ("pipenv install x", "pip"),
        ("mim install x", "pip"),
        ("conda install -y x", "conda"),
        ("mamba create -n env x", "conda"),
    ],
)
def test_every_tool(command, tool):
    found = installed(command)

    assert found is not None
    assert (found.tool, [(item.name, item.section) for item in found.mentions]) == (tool, [("x", tool)])


@pytest.mark.parametrize(
    ("word", "name", "version", "url"),
    [
        ("torch==2.1.0+cu121", "torch", "==2.1.0+cu121", ""),
        ("'torch>=2.0,<3; python_version>\"3\"'", "torch", ">=2.0,<3", ""),
        ("torch==${TORCH}+cu121", "torch", "==${TORCH}+cu121", ""),
        ("'ray[tune]>=2'", "ray", ">=2", ""),
        ("git+https://host/o/repo.git@v1", "repo", "", "git+https://host/o/repo.git@v1"),
        ("git+https://host/o/repo/#subdirectory=a/b", "repo", "", "git+https://host/o/repo/#subdirectory=a/b"),
        ("'a @ git+https://host/o/r.git'", "a", "", "git+https://host/o/r.git"),
        ("https://host/torch-2.1%2Bcu1-cp3-cp3-x.whl", "torch", "", "https://host/torch-2.1%2Bcu1-cp3-cp3-x.whl"),
        ("./sub/my-ext", "my-ext", "", "./sub/my-ext"),
        ("sub/my-ext/", "my-ext", "", "sub/my-ext/"),
        ("/tmp/x[dev]", "x", "", "/tmp/x[dev]"),
        ("-e ./sub", "sub", "", "./sub"),
        ("-e git+https://host/o/r.git#egg=gs", "gs", "", "git+https://host/o/r.git#egg=gs"),
    ],
)
def test_mention(word, name, version, url):
    found = installed(f"pip install {word}")

    assert found is not None
    assert [(item.name, item.version, item.url) for item in found.mentions] == [(name, version, url)]


@pytest.mark.parametrize("word", [".", "-e .", "$PACKAGES", "${X}", "$(cat list)", "-U", "--no-deps"])
def test_words_that_name_no_distribution(word):
    found = installed(f"pip install {word}")

    assert found is not None
    assert found.mentions == ()


@pytest.mark.parametrize(
    ("options", "urls", "includes"),
    [
        ("-i https://a", ["https://a"], []),
        ("--extra-index-url=https://a", ["https://a"], []),
        ("-f https://a --index-url https://b", ["https://a", "https://b"], []),
        ("-r a.txt -c b.txt", [], ["a.txt", "b.txt"]),
        ("-ra.txt", [], ["a.txt"]),
        ("--target dir --timeout 5 -U", [], []),
    ],
)
def test_options(options, urls, includes):
    found = installed(f"pip install {options} x")

    assert found is not None
    assert [item.name for item in found.mentions] == ["x"]
    assert [url for item in found.options for url in item.urls] == urls
    assert [path for item in found.options for path in item.includes] == includes


def test_conda():
    found = installed("conda install -y -c nvidia --channel=conda-forge pytorch=2.1=py3_cuda nvidia/label/x::cuda")

    assert found is not None
    assert [(item.name, item.version) for item in found.mentions] == [("pytorch", "=2.1=py3_cuda"), ("cuda", "")]
    assert [item.urls for item in found.options] == [("nvidia",), ("conda-forge",)]
    assert found.flags == {"-y"}


def test_flags_are_those_without_a_value():
    found = installed("pip install --no-build-isolation -U --target dir x")

    assert found is not None
    assert found.flags == {"--no-build-isolation", "-U"}


@pytest.mark.parametrize(("url", "name"), [("", ""), (".", ""), ("..", ""), ("https://h/$X", ""), ("a/b/", "b")])
def test_name_of(url, name):
    assert name_of(url) == name


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data):
    for command in shell_commands(data.decode("utf-8", "replace")):
        installation(command)


PARTS = [
    "pip install ",
    "-r ",
    "-e",
    "'",
    '"',
    "\\\n",
    "\\",
    "\n",
    "#",
    "$(",
    ")",
    "`",
    "<<E",
    "E",
    "a==1 ",
    ";",
    "&",
    ">",
]


@given(st.lists(st.sampled_from(PARTS), max_size=30))
def test_words_stand_where_they_are_said_to(parts):
    text = "".join(parts)
    lines = text.split("\n")
    before = (0, 0)
    for command in shell_commands(text):
        installation(command)
        for word in command:
            assert 1 <= word.line <= word.last_line <= len(lines)
            assert 1 <= word.column <= len(lines[word.line - 1])
            assert before < (word.line, word.column)
            before = (word.line, word.column)
