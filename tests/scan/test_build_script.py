from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.scan.build_script import compiler_flags
from rocm3d.syntax.python import PythonUnit

IMPORT = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"


def find_flags(text: str):
    return list(compiler_flags(PythonUnit("setup.py", (IMPORT + text).encode())))


def test_a_file_that_builds_no_extension_has_no_flags():
    assert list(compiler_flags(PythonUnit("a.py", b'x = ["-O3"]\n'))) == []


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
def test_strings_that_reach_no_compiler_are_not_flags(text):
    assert find_flags(text) == []


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
def test_flags_and_positions(text, expected):
    assert [(flag.text, flag.line, flag.column) for flag in find_flags(text)] == expected


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
def test_guarded_and_host_only_flags(text, guarded, host):
    (flag,) = find_flags(text)

    assert (flag.is_guarded, flag.is_host_only) == (guarded, host)


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
def test_windows_branches_are_skipped(text, count):
    assert len(find_flags(text)) == count


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
def test_matching_prefix(text, prefix):
    (flag,) = find_flags(f"x = [{text}]\n")

    assert flag.matching_prefix(["-arch=sm_", "-other"]) == prefix


@given(st.binary(max_size=120))
def test_any_bytes_do_not_raise(data):
    for flag in compiler_flags(PythonUnit("setup.py", IMPORT.encode() + data)):
        assert flag.text.startswith("-")
