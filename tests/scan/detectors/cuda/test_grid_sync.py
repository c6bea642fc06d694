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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "where"),
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
def test_place(places, text, where):
    assert places(RULE, "a.cu", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 3)]


def test_message_names_the_group(findings):
    (found,) = findings(RULE, "a.cu", TEXT)

    assert (found.code, found.severity) == ("CU204", "warning")
    assert found.message.startswith("cg::this_grid().sync() synchronises the whole grid;")
