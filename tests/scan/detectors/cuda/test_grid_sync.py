from __future__ import annotations

import pytest

RULE = "grid_sync"
TEXT = "__global__ void k() {\n  cg::this_grid().sync();\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("sync", "thread_rank"),
        TEXT.replace("this_grid", "this_thread_block"),
        TEXT.replace("cg::this_grid()", "block"),
        "void f() {\n  auto grid = make_grid();\n  grid.sync();\n}\n",
        "void f() {\n  auto idx = cg::this_grid().thread_rank();\n  file.sync();\n}\n",
        "// cg::this_grid().sync();\n",
        'const char* s = "cg::this_grid().sync()";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "void f() { cg::this_grid().sync",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 3)]),
        (TEXT.replace("cg::", "cooperative_groups::"), [(2, 3)]),
        (
            "__global__ void k() {\n  auto grid = cg::this_grid();\n  grid.sync();\n  grid.sync();\n}\n",
            [(3, 3), (4, 3)],
        ),
        ("__global__ void k() {\n  cg::grid_group all = cg::this_grid();\n\tall.sync();\n}\n", [(3, 2)]),
        ("__device__ void f(const cg::grid_group& grid) {\n  grid.sync();\n}\n", [(2, 3)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 3)]


def test_message_names_the_group(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU204", "warning")
    assert finding.message.startswith("cg::this_grid().sync() synchronises the whole grid;")
