from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.scan.build_script import builds, flags
from rocm3d.syntax.python import PythonUnit

IMPORT = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"


def found(text: str):
    return list(flags(PythonUnit("setup.py", (IMPORT + text).encode())))


def test_a_file_that_builds_no_extension_has_no_flags():
    assert list(flags(PythonUnit("a.py", b'x = ["-O3"]\n'))) == []


@pytest.mark.parametrize(
    "text",
    [
        '"-O3"\n',
        "x = 'O3 -O3'\n",
        "x == '-O3'\n",
        "print('-O3')\n",
        "d['-O3']\n",
        "{'-O3': 1}\n",
        "x = ''\n",
        "x = f'{a}'\n",
    ],
)
def test_what_reaches_no_compiler_is_no_flag(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = ['-O3', '-g']\n", [("-O3", 3, 6), ("-g", 3, 13)]),
        ("x = '-O3  -g\\t-h'\n", [("-O3", 3, 5), ("-g\\t-h", 3, 11)]),
        ("x = '-l foo -g'\n", [("-l", 3, 5), ("-g", 3, 13)]),
        ("x = f'-a{b}c -d{e}'\n", [("-a{}c", 3, 5), ("-d{}", 3, 14)]),
        ("x = ('-a'\n     '-b')\n", [("-a", 3, 6), ("-b", 4, 6)]),
        ("x = f'-ä{b} -c'\n", [("-ä{}", 3, 5), ("-c", 3, 13)]),
    ],
)
def test_words_and_places(text, expected):
    assert [(flag.text, flag.line, flag.column) for flag in found(text)] == expected


@pytest.mark.parametrize(
    ("text", "guarded", "host"),
    [
        ("x = ['-a']\n", False, False),
        ("x = ['-a'] if torch.version.hip else []\n", True, False),
        ("x = {'cxx': ['-a']}\n", False, True),
        ("x = {'nvcc': ['-a']}\n", False, False),
        ("x['cxx'] += ['-a']\n", False, True),
        ("f(extra_cflags=['-a'])\n", False, True),
        ("f(extra_cuda_cflags=['-a'])\n", False, False),
        ("CXX_FLAGS = ['-a']\n", False, True),
    ],
)
def test_whom_it_is_for(text, guarded, host):
    (flag,) = found(text)

    assert (flag.guarded, flag.host) == (guarded, host)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("if sys.platform == 'win32':\n    x = ['-a']\nelse:\n    x = ['-b']\n", 1),
        ("if os.name != 'nt':\n    x = ['-a']\nelse:\n    x = ['-b']\n", 1),
        ("if not IS_WINDOWS:\n    x = ['-a']\n", 1),
        ("x = ['-a'] if IS_WINDOWS else ['-b']\n", 1),
        ("if darwin:\n    x = ['-a']\n", 1),
    ],
)
def test_branches_of_windows_are_left_out(text, count):
    assert len(found(text)) == count


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("'-arch=sm_80'", "-arch=sm_"),
        ("f'-arch={a}'", "-arch=sm_"),
        ("'-arch=%s'", "-arch=sm_"),
        ("'-arch='", "-arch=sm_"),
        ("'-arch'", None),
        ("f'-{a}'", None),
        ("'-arch=arm64'", None),
    ],
)
def test_begins(text, prefix):
    (flag,) = found(f"x = [{text}]\n")

    assert flag.begins(["-arch=sm_", "-other"]) == prefix


@pytest.mark.parametrize(
    ("text", "expected"),
    [("setup(x)\n", False), (IMPORT, True), ("from torch.utils.cpp_extension import load\n", False)],
)
def test_builds(text, expected):
    assert builds(PythonUnit("setup.py", text.encode())) is expected


@given(st.binary(max_size=120))
def test_any_bytes_are_survived(data):
    for flag in flags(PythonUnit("setup.py", IMPORT.encode() + data)):
        assert flag.text.startswith("-")
