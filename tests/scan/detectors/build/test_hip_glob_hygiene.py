from __future__ import annotations

import pytest

RULE = "hip_glob_hygiene"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
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
MATCHING = [
    ('sources = glob.glob("csrc/*.cpp")\n', [(4, 11)]),
    ('a = glob.glob(os.path.join(d, "**", "*.cpp"), recursive=True)\n', [(4, 5)]),
    ('a = list(Path("csrc").rglob("*.cc"))\n', [(4, 10)]),
    ('a = glob.iglob(f"{d}/*.c*")\n', [(4, 5)]),
    ('a = [f for f in os.listdir("csrc") if f.endswith((".cpp", ".cu"))]\n', [(4, 17)]),
    ('macros = [("WITH_HIP", None)]\na = glob.glob("csrc/*.cpp")\n', [(5, 5)]),
]


@pytest.mark.parametrize("body", NOT_MATCHING)
def test_no_finding_in_unaffected_code(positions, body):
    assert positions(RULE, "setup.py", IMPORT + body) == []


@pytest.mark.parametrize("path", ["a.cu", "setup.cfg", "notes.txt"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, IMPORT + MATCHING[0][0]) == []


@pytest.mark.parametrize(("body", "expected"), MATCHING)
def test_positions(positions, body, expected):
    assert positions(RULE, "setup.py", IMPORT + body) == expected


def test_crlf_and_invalid_utf8(positions):
    body, expected = MATCHING[0]
    text = b"# \xff\xe9\r\n" + (IMPORT + body).replace("\n", "\r\n").encode()

    assert positions(RULE, "setup.py", text) == [(line + 1, column) for line, column in expected]


@pytest.mark.parametrize("broken", ["(\n", "if\n", "f(", "x = [\n", "def\n", "\u2028\n"])
def test_incomplete_code_does_not_crash(positions, broken):
    assert positions(RULE, "setup.py", IMPORT + broken) == []


def test_no_finding_where_nothing_is_packaged(positions):
    text = "from torch.utils.cpp_extension import load\nload(sources=glob.glob('csrc/*.cpp'))\n"

    assert positions(RULE, "backend.py", text) == []


def test_message_quotes_the_call(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'a = glob.glob(\n    "csrc/*.cpp")\n')

    assert (finding.code, finding.severity) == ("BLD301", "warning")
    assert finding.message.startswith('glob.glob( "csrc/*.cpp") collects the sources;')
