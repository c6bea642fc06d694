from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.docker import is_docker, read


@pytest.mark.parametrize(
    "path",
    [
        "Dockerfile.md",
        "dockerfiles",
        "a/.dockerignore",
        "Dockerfile.dockerignore",
        "mycompose.yml",
        "docker.yml",
        "x.py",
    ],
)
def test_is_not_docker(path):
    assert not is_docker(path)


@pytest.mark.parametrize(
    "path",
    [
        "Dockerfile",
        "docker/Dockerfile.gpu",
        "Dockerfile-rocm",
        "a.dockerfile",
        "Containerfile",
        "compose.yaml",
        "docker-compose.yml",
        "docker/compose.serve.yml",
        "docker-compose.gpu.yaml",
    ],
)
def test_is_docker(path):
    assert is_docker(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# FROM a\n", []),
        ("FROM\n", []),
        ("FROM scratch\n", []),
        ("FROM a:1\n", [("a:1", 1, 1)]),
        ("  from a:1 as b\nFROM b\nFROM B\n", [("a:1", 1, 3)]),
        ("FROM --platform=x a\n", [("a", 1, 1)]),
        ("FROM \\\n  a\n", [("a", 1, 1)]),
        ("ARG V=1\nFROM a:$V\nFROM a:${V}\nFROM a:${W:-2}\n", [("a:1", 2, 1), ("a:1", 3, 1), ("a:2", 4, 1)]),
        ("FROM a:$V\n", [("a:$V", 1, 1)]),
        ("FROM a AS b\nCOPY --from=b x y\nCOPY --from=0 x y\nCOPY --from=c:1 x y\n", [("a", 1, 1), ("c:1", 4, 1)]),
        ("RUN echo \\\nFROM a\n", []),
        ("RUN <<EOF\nFROM a\nEOF\nFROM b\n", [("b", 4, 1)]),
        ("FROM a\r\nFROM b\r\n", [("a", 1, 1), ("b", 2, 1)]),
        ("# escape=`\nRUN a `\nFROM b\nFROM c\n", [("c", 4, 1)]),
    ],
)
def test_images(text, expected):
    assert [(entry.name, entry.line, entry.column) for entry in read("Dockerfile", text.encode()).images] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RUN pip install a\n", [("a", 1, 17)]),
        ("RUN pip install a \\\n    b && c\n", [("a", 1, 17), ("b", 2, 5)]),
        ("RUN pip install a \\\n# why\n\n    b\n", [("a", 1, 17), ("b", 4, 5)]),
        ("RUN --mount=type=cache,target=/c pip install a\n", [("a", 1, 46)]),
        ('RUN ["pip", "install", "a"]\n', [("a", 1, 5)]),
        ("RUN <<EOF\npip install a\nEOF\nRUN pip install b\n", [("a", 2, 13), ("b", 4, 17)]),
        ("# größe\nRUN ö; pip install a\n", [("a", 2, 20)]),
        ("RUN pip install a\r\n", [("a", 1, 17)]),
        ("# RUN pip install a\n", []),
        ("RUN echo pip install a\n", []),
        ("CMD pip install a\n", []),
    ],
)
def test_mentions(text, expected):
    assert [(entry.name, entry.line, entry.column) for entry in read("Dockerfile", text.encode()).mentions] == expected


def test_options():
    (option,) = read("Dockerfile", b"RUN a; \\\n  pip install -i https://x/cu121 b\n").options

    assert (option.urls, option.line, option.column) == (("https://x/cu121",), 2, 15)


def test_instructions_and_shell_commands_are_commands():
    result = read("Dockerfile", b"ENV A=b C='d e'\nRUN x y && z\n").commands

    assert [(entry.name, entry.arguments, entry.line, entry.column) for entry in result] == [
        ("ENV", ("A=b", "C=d e"), 1, 1),
        ("x", ("y",), 2, 5),
        ("z", (), 2, 12),
    ]


def test_compose():
    text = "services:\n  a:\n    image: 'x:1'  # y\n    runtime: nvidia\n  b:\n    # image: z\n    image: ${I:-w}\n"
    result = read("compose.yaml", text.encode())

    assert [(entry.name, entry.line, entry.column) for entry in result.images] == [("x:1", 3, 5), ("w", 7, 5)]
    assert [(entry.name, entry.arguments, entry.line) for entry in result.commands] == [("runtime", ("nvidia",), 4)]


@given(st.binary(max_size=200), st.sampled_from(["Dockerfile", "compose.yml"]))
def test_any_bytes_do_not_raise(data, path):
    assert read(path, data).data == data


PARTS = [
    "FROM a\n",
    "RUN ",
    "pip install b",
    "\\\n",
    "\n",
    "# x\n",
    "<<E",
    "E\n",
    "[",
    '"',
    "'",
    "ARG A=b\n",
    "$A",
    " && ",
]


@given(st.lists(st.sampled_from(PARTS), max_size=25))
def test_positions_are_inside_the_file(parts):
    data = "".join(parts).encode()
    lines = data.decode().split("\n")
    result = read("Dockerfile", data)
    for entry in (*result.images, *result.commands, *result.mentions):
        assert 1 <= entry.line <= len(lines)
        assert 1 <= entry.column <= len(lines[entry.line - 1]) + 1


BUILD = """FROM x
ARG V=2.5
ENV PAIR a=1 b=2
ENV SPACED "b c"
WORKDIR /opt
RUN cd ext && \\
    # a comment
    pip install "a==${V}" $SPACED .
RUN pip install .
WORKDIR app
RUN pip install .
RUN ["bash", "-c", "pip install d"]
RUN git clone https://h/o/kit /k && pip install /k
"""


def test_variables_folders_and_clones_of_a_build():
    result = read("Dockerfile", BUILD.encode())
    assert [(entry.name, entry.version, entry.line) for entry in result.mentions] == [
        ("a", "==2.5", 8),
        ("b", "", 8),
        ("c", "", 8),
        ("ext", "", 8),
        ("opt", "", 9),
        ("app", "", 11),
        ("d", "", 12),
        ("kit", "", 13),
    ]
    assert [entry.url for entry in result.submodules] == ["https://h/o/kit"]


def test_an_index_in_the_environment_is_an_option():
    result = read("Dockerfile", b"FROM x\nENV A=1 PIP_INDEX_URL=https://host/cu121\n")
    assert [(option.urls, option.line, option.column) for option in result.options] == [(("https://host/cu121",), 2, 9)]


def test_lone_surrogate_in_json_words_is_replaced():
    """Regression: a lone surrogate cannot be written to a document and aborted the scan."""
    (result,) = read("Dockerfile", b'RUN ["pip", "install", "torch==\\ud800"]\n').mentions
    assert "==?" == result.version
