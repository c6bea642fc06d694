from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.install_line import distribution_name, parse_install_command, shell_commands


def word_texts(script: str) -> list[list[str]]:
    return [[token.text for token in command] for command in shell_commands(script)]


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
    assert word_texts(script) == expected


def test_positions_start_at_line_and_column():
    result = shell_commands("ä 'b' \\\n  c; d", line=5, column=10)

    assert [[(token.text, token.line, token.column) for token in command] for command in result] == [
        [("ä", 5, 10), ("b", 5, 12), ("c", 6, 3)],
        [("d", 6, 6)],
    ]


def test_word_over_two_lines():
    ((_, token),) = shell_commands("a 'b\nc'\n")

    assert (token.line, token.last_line) == (1, 2)


def parse_command(command: str):
    (words,) = shell_commands(command)
    return parse_install_command(words)


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
    assert parse_command(command) is None


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
    result = parse_command(command)

    assert result is not None
    assert (result.tool, [(entry.name, entry.section) for entry in result.mentions]) == (tool, [("x", tool)])


@pytest.mark.parametrize(
    ("argument", "name", "version", "url"),
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
def test_mention(argument, name, version, url):
    result = parse_command(f"pip install {argument}")

    assert result is not None
    assert [(entry.name, entry.version, entry.url) for entry in result.mentions] == [(name, version, url)]


@pytest.mark.parametrize("argument", [".", "-e .", "$PACKAGES", "${X}", "$(cat list)", "-U", "--no-deps"])
def test_words_that_are_not_distributions(argument):
    result = parse_command(f"pip install {argument}")

    assert result is not None
    assert result.mentions == ()


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
    result = parse_command(f"pip install {options} x")

    assert result is not None
    assert [entry.name for entry in result.mentions] == ["x"]
    assert [url for entry in result.options for url in entry.urls] == urls
    assert [path for entry in result.options for path in entry.includes] == includes


def test_conda():
    result = parse_command("conda install -y -c nvidia --channel=conda-forge pytorch=2.1=py3_cuda nvidia/label/x::cuda")

    assert result is not None
    assert [(entry.name, entry.version) for entry in result.mentions] == [("pytorch", "=2.1=py3_cuda"), ("cuda", "")]
    assert [entry.urls for entry in result.options] == [("nvidia",), ("conda-forge",)]
    assert result.flags == {"-y"}


def test_flags():
    result = parse_command("pip install --no-build-isolation -U --target dir x")

    assert result is not None
    assert result.flags == {"--no-build-isolation", "-U"}


@pytest.mark.parametrize(("url", "name"), [("", ""), (".", ""), ("..", ""), ("https://h/$X", ""), ("a/b/", "b")])
def test_distribution_name(url, name):
    assert distribution_name(url) == name


@given(st.binary(max_size=200))
def test_any_bytes_do_not_raise(data):
    for command in shell_commands(data.decode("utf-8", "replace")):
        parse_install_command(command)


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
def test_word_positions(parts):
    text = "".join(parts)
    lines = text.split("\n")
    before = (0, 0)
    for command in shell_commands(text):
        parse_install_command(command)
        for token in command:
            assert 1 <= token.line <= token.last_line <= len(lines)
            assert 1 <= token.column <= len(lines[token.line - 1])
            assert before < (token.line, token.column)
            before = (token.line, token.column)
