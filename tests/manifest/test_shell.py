from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.shell import read, reader

SCRIPT = """#!/bin/bash
# pip install commented
echo "pip install echoed"
if [ "$PLATFORM" = "cuda" ] ; then
    pip install torch==2.4.0 --index-url https://host/whl/cu118
    case $V in
        2.0.1) python -m pip install 'kaolin[x]>=1' -f https://host/a.html;;
        *) echo "no" ;;
    esac
fi
conda install -y pytorch-cuda=11.8 -c nvidia
uv pip install \\
    flash-attn \\
    --no-build-isolation
cat <<EOF
pip install in-a-document
EOF
"""


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(entry.name, entry.line, entry.column, entry.section) for entry in read("setup.sh", data).mentions]


def test_installs_of_every_branch():
    assert mention_positions(SCRIPT) == [
        ("torch", 5, 17, "pip"),
        ("kaolin", 7, 38, "pip"),
        ("pytorch-cuda", 11, 18, "conda"),
        ("flash-attn", 13, 5, "uv"),
    ]


def test_options():
    options = read("setup.sh", SCRIPT.encode()).options
    assert [(entry.urls, entry.line, entry.column) for entry in options] == [
        (("https://host/whl/cu118",), 5, 30),
        (("https://host/a.html",), 7, 53),
        (("nvidia",), 11, 36),
    ]


@pytest.mark.parametrize("path", ["setup.py", "sh", "a.sh.txt", "Dockerfile"])
def test_is_not_shell_script(path):
    assert not reader.matches(path)


@pytest.mark.parametrize("path", ["setup.sh", "a/b/install.sh", "x.bash"])
def test_is_shell_script(path):
    assert reader.matches(path)


def test_windows_line_ends_and_odd_bytes():
    assert mention_positions(b"# \xff\xfe gr\xf6\xdfe\r\npip install torch\r\n") == [("torch", 2, 13, "pip")]


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read("setup.sh", b"touch ran\n$(touch ran)\npip install $(touch ran)\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bomb", [b"(" * 100_000, b"$(" * 50_000, b"'" * 99_999, b"{ " * 50_000, b"\\\n" * 50_000])
def test_deep_nesting_does_not_raise(bomb):
    assert [entry[0] for entry in mention_positions(bomb[:0] + b"pip install torch\n" + bomb)][:1] == ["torch"]


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    result = read("a.sh", data)
    lines = data.decode("utf-8", "replace").count("\n") + 1
    assert all(1 <= entry.line <= entry.last_line <= lines and entry.column >= 1 for entry in result.mentions)


NAMES = st.sampled_from(["torch", "gsplat", "flash-attn"])


@given(st.lists(st.tuples(NAMES, st.sampled_from(["", "  ", "\t"]), st.booleans()), max_size=8))
def test_positions_of_install_lines(rows):
    lines = [f"{indent}{'# ' if off else ''}pip install {name}" for name, indent, off in rows]
    expected = [
        (name, number, len(indent) + 13, "pip") for number, (name, indent, off) in enumerate(rows, 1) if not off
    ]
    assert mention_positions("\n".join(lines)) == expected
