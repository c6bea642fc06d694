from __future__ import annotations

import ast

import pytest

from rocm3d.syntax.source_readers import (
    TextReader,
    cmake_readers,
    cpp_readers,
    document_readers,
    patch_readers,
    python_readers,
    script_readers,
)


def reads(text: str, path: str) -> bool:
    return any(reader.reads(path) for reader in python_readers("tools/x.py", ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "open('csrc/k.cu', 'w')\n",
        "open('other.cu')\n",
        "open('lib/k.cu')\n",
        "sources = ['csrc/k.cu']\nCUDAExtension(sources=sources)\n",
        "def f():\n    name = 'k.cu'\ndef g(name):\n    open(name)\n",
        "shutil.copy('csrc/k.cu', 'build')\n",
    ],
)
def test_what_does_not_read_the_file(text):
    assert not reads(text, "csrc/k.cu")


@pytest.mark.parametrize(
    "text",
    [
        "open('csrc/k.cu')\n",
        "open(os.path.join(here, 'csrc', 'k.cu'))\n",
        "(Path(__file__).parent / 'csrc' / 'k.cu').read_text()\n",
        "name = 'k.cu'\ndef f():\n    return open(name).read()\n",
        "def f(name):\n    return open(name).read()\nf('csrc/k.cu')\n",
        "for name in ['a', 'k']:\n    open(f'{name}.cu')\n",
        "for path in folder.glob('*.cu'):\n    path.open()\nfor path in glob('*.cu'):\n    open(path)\n",
        "open(base + '.cu')\n",
        "pkgutil.get_data('pkg', 'csrc/k.cu')\n",
    ],
)
def test_what_reads_the_file(text):
    assert reads(text, "csrc/k.cu")


def test_any_python_file_only_if_it_is_interpreted():
    assert not reads("for p in glob('*.py'):\n    len(open(p).read())\n", "a.py")
    assert reads("for p in glob('*.py'):\n    exec(open(p).read())\n", "a.py")


def test_own_file():
    assert reads("open(__file__)\n", "tools/x.py")
    assert not reads("open(os.path.join(os.path.dirname(__file__), 'VERSION'))\n", "tools/x.py")


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("k.cu", "csrc/k.cu", True),
        ("../csrc/k.cu", "csrc/k.cu", True),
        ("${CMAKE_CURRENT_SOURCE_DIR}/k.cu", "csrc/k.cu", True),
        ("other/k.cu", "csrc/k.cu", False),
        ("*_kernel.cu", "csrc/k.cu", False),
        ("", "csrc/k.cu", False),
    ],
)
def test_paths(pattern, path, expected):
    assert TextReader(pattern, "x").reads(path) is expected


def test_other_readers():
    assert [r.pattern for r in cmake_readers("a", b"configure_file(a.h b.h)\nadd_library(k c.cu)\n")] == ["a.h", "b.h"]
    assert list(cmake_readers("a", b"file(READ a.cu")) == []
    assert [r.pattern for r in cpp_readers("a", b'#include "a.h"\nf("k/b.cu");\n')] == ["k/b.cu"]
    assert [r.pattern for r in script_readers("a", b"# sed x a.cu\nsed -i s/a/b/ b.cu\nnvcc c.cu\n")] == ["b.cu"]
    assert [r.pattern for r in patch_readers("a", b"--- a/x.cu\n+++ b/x.cu\n@@\n+++ y\n")] == ["x.cu", "y"]
    text = b".. literalinclude:: a.py\n   :lines: 1-3\n\n.. literalinclude:: b.py\n"
    assert [r.pattern for r in document_readers("a", text)] == ["a.py"]
