from __future__ import annotations

import pytest

RULE = "hip_glob_hygiene"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'sources = ["csrc/a.cpp"]\n',
    'sources = glob.glob("csrc/*.cu")\n',
    'sources = glob.glob("csrc/*.txt")\n',
    'packages = glob.glob("*")\n',
    '# sources = glob.glob("csrc/*.cpp")\n',
    'note = "glob.glob(csrc/*.cpp)"\n',
    'sources = [p for p in glob.glob("csrc/*.cpp") if "hip" not in p]\n',
    'sources = [p for p in glob.glob("csrc/*.cpp") if not p.endswith("_hip.cpp")]\n',
    'sources = set(glob.glob("csrc/*.cpp")) - set(glob.glob("csrc/*_hip.cpp"))\n',
    'for a, b, c in os.walk("data"):\n    pass\n',
    'sources = glob_all("csrc/*.cpp")\n',
]
FOUND = [
    ('sources = glob.glob("csrc/*.cpp")\n', [(4, 11)]),
    ('a = glob.glob(os.path.join(d, "**", "*.cpp"), recursive=True)\n', [(4, 5)]),
    ('a = list(Path("csrc").rglob("*.cc"))\n', [(4, 10)]),
    ('a = glob.iglob(f"{d}/*.c*")\n', [(4, 5)]),
    ('a = [f for f in os.listdir("csrc") if f.endswith((".cpp", ".cu"))]\n', [(4, 17)]),
    ('macros = [("WITH_HIP", None)]\na = glob.glob("csrc/*.cpp")\n', [(5, 5)]),
]


@pytest.mark.parametrize("body", SILENT)
def test_is_not_found_where_nothing_is_to_be_done(places, body):
    assert places(RULE, "setup.py", IMPORT + body) == []


@pytest.mark.parametrize("path", ["a.cu", "setup.cfg", "notes.txt"])
def test_is_not_looked_for_in_other_files(places, path):
    assert places(RULE, path, IMPORT + FOUND[0][0]) == []


@pytest.mark.parametrize(("body", "where"), FOUND)
def test_place(places, body, where):
    assert places(RULE, "setup.py", IMPORT + body) == where


def test_crlf_and_odd_bytes_are_survived(places):
    body, where = FOUND[0]
    text = b"# \xff\xe9\r\n" + (IMPORT + body).replace("\n", "\r\n").encode()

    assert places(RULE, "setup.py", text) == [(line + 1, column) for line, column in where]


@pytest.mark.parametrize("broken", ["(\n", "if\n", "f(", "x = [\n", "def\n", "\u2028\n"])
def test_half_written_code_is_survived(places, broken):
    assert places(RULE, "setup.py", IMPORT + broken) == []


def test_is_not_found_where_nothing_is_packaged(places):
    text = "from torch.utils.cpp_extension import load\nload(sources=glob.glob('csrc/*.cpp'))\n"

    assert places(RULE, "backend.py", text) == []


def test_message_quotes_the_call(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'a = glob.glob(\n    "csrc/*.cpp")\n')

    assert (found.code, found.severity) == ("BLD301", "warning")
    assert found.message.startswith('glob.glob( "csrc/*.cpp") collects the sources;')
