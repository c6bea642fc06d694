from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.guard_include import edit
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.isolation import prove_isolation

HEADERS = {"headers": ["gone.h", "cg/reduce.h"], "refuse_if_called": ["reduce"]}
OPEN, TORCH = b"#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)", b"#if !defined(USE_ROCM)"


UNTOUCHED = {
    "empty": b"",
    "other header": b"#include <stay.h>\n",
    "header in a folder of that name": b"#include <x/gone.h>\n",
    "longer name": b"#include <gone.hpp>\n",
    "comment": b"// #include <gone.h>\n/*\n#include <gone.h>\n*/\n",
    "string": b'const char* s = "\\\n#include <gone.h>";\n',
    "raw string": b'const char* s = R"(\n#include <gone.h>\n)";\n',
    "macro": b"#define X \\\n#include <gone.h>\n",
    "guarded": b"#ifndef USE_ROCM\n#include <gone.h>\n#endif\n",
    "guarded by the platform": b"#if !defined(__HIP_PLATFORM_AMD__)\n#include <gone.h>\n#endif\n",
    "only for rocm": b"#ifdef USE_ROCM\n#include <gone.h>\n#endif\n",
    "never compiled": b"#if 0\n#include <gone.h>\n#endif\n",
    "mentioned in a comment before another": b"/* #include <gone.h> */ #include <stay.h>\n",
    "macro include": b"#define H <gone.h>\n#include H\n",
}


@pytest.mark.parametrize("data", UNTOUCHED.values(), ids=UNTOUCHED)
def test_stays_untouched(data):
    assert edit(data, HEADERS) == data


@pytest.mark.parametrize(
    "call",
    [
        "reduce(x);",
        "cg::reduce(x);",
        "cooperative_groups::reduce<int>(x, y);",
        "::cg::reduce (x);",
        "f(cg::reduce(x));",
        "auto y = reduce<float>(x);",
        "cg :: reduce(x);",
    ],
)
def test_refuses_if_the_header_is_needed(call):
    data = b"#include <cg/reduce.h>\nvoid f() { " + call.encode() + b" }\n"
    with pytest.raises(RewriteRefusedError, match="reduce"):
        edit(data, HEADERS)


@pytest.mark.parametrize(
    "code", ["#define SUM(x) cg::reduce(tile, x)\n", "using cg::reduce;\n", "auto f = &cg::reduce<int>;\n"]
)
def test_refuses_if_the_header_is_needed_without_a_plain_call(code):
    with pytest.raises(RewriteRefusedError, match="reduce"):
        edit(b"#include <cg/reduce.h>\n" + code.encode(), HEADERS)


def test_similar_names_are_not_refused():
    data = b"#include <cg/reduce.h>\nvoid f() { warp_reduce(x); reduce_all(y); } // reduce(x)\n"
    assert edit(data, HEADERS) != data


EXPECTED = {
    "angle": (b"#include <gone.h>\nint x;\n", OPEN + b"\n#include <gone.h>\n#endif\nint x;\n"),
    "quotes": (b'#include "gone.h"\n', OPEN + b'\n#include "gone.h"\n#endif\n'),
    "spaces": (b"  #  include   <gone.h>  // why\n", OPEN + b"\n  #  include   <gone.h>  // why\n#endif\n"),
    "tabs": (b"\t#include\t<gone.h>\n\tint x;\n", OPEN + b"\n\t#include\t<gone.h>\n#endif\n\tint x;\n"),
    "neighbours share": (
        b"#include <a.h>\n#include <gone.h>\n#include <cg/reduce.h>\n#include <b.h>\n",
        b"#include <a.h>\n" + OPEN + b"\n#include <gone.h>\n#include <cg/reduce.h>\n#endif\n#include <b.h>\n",
    ),
    "two places": (
        b"#include <gone.h>\n#include <b.h>\n#include <gone.h>\n",
        OPEN + b"\n#include <gone.h>\n#endif\n#include <b.h>\n" + OPEN + b"\n#include <gone.h>\n#endif\n",
    ),
    "CRLF": (b"#include <gone.h>\r\nint x;\r\n", OPEN + b"\r\n#include <gone.h>\r\n#endif\r\nint x;\r\n"),
    "no final newline elsewhere": (b"#include <gone.h>\nint x;", OPEN + b"\n#include <gone.h>\n#endif\nint x;"),
    "odd bytes": (
        b"// \xe9\xff\n#include <gone.h>\n// \xe9",
        b"// \xe9\xff\n" + OPEN + b"\n#include <gone.h>\n#endif\n// \xe9",
    ),
    "inside an unknown condition": (
        b"#ifdef FOO\n#include <gone.h>\n#endif\n",
        b"#ifdef FOO\n" + OPEN + b"\n#include <gone.h>\n#endif\n#endif\n",
    ),
    "comment of two lines behind": (
        b"#include <gone.h> /* a\n b */\nint x;\n",
        OPEN + b"\n#include <gone.h> /* a\n b */\n#endif\nint x;\n",
    ),
    "byte order mark on another line": (
        b"\xef\xbb\xbf// c\n#include <gone.h>\n",
        b"\xef\xbb\xbf// c\n" + OPEN + b"\n#include <gone.h>\n#endif\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), EXPECTED.values(), ids=EXPECTED)
def test_inserts_the_guard(before, after):
    assert edit(before, HEADERS) == after
    assert edit(after, HEADERS) == after
    proof = prove_isolation("x.cu", before, after)
    assert proof.holds, proof.detail
    assert not CudaUnit("x.cu", after).tree.root_node.has_error or b"\xff" in after or b"\xef" in after


def test_the_guard_of_a_torch_build():
    after = edit(b"#include <gone.h>\n", {**HEADERS, "guard": "torch"})
    assert after == TORCH + b"\n#include <gone.h>\n#endif\n"


@pytest.mark.parametrize(
    "data", [b"#include <gone.h>", b"int x;\r\n#include <gone.h>", b"\xef\xbb\xbf#include <gone.h>\n"]
)
def test_the_edges_of_a_file_are_proven_or_refused(data):
    try:
        after = edit(data, HEADERS)
    except RewriteRefusedError:
        return
    assert after != data, "neither edited nor refused"
    assert prove_isolation("x.cu", data, after).holds


@pytest.mark.skipif(shutil.which("cc") is None, reason="not run: cc is not installed")
@pytest.mark.parametrize("macro", ["USE_ROCM", "__HIP_PLATFORM_AMD__"])
def test_the_preprocessor_skips_the_header_on_rocm_only(tmp_path, macro):
    (tmp_path / "gone.h").write_text("from_the_header\n")
    after = edit(b"#include <gone.h>\nrest\n", HEADERS)

    def preprocessed(*options: str) -> bytes:
        command = ["cc", "-x", "c++", "-E", "-P", "-I", str(tmp_path), *options, "-"]
        return subprocess.run(command, input=after, capture_output=True, check=True).stdout

    assert preprocessed(f"-D{macro}").split() == [b"rest"]
    assert preprocessed().split() == [b"from_the_header", b"rest"]


LINES = st.lists(
    st.sampled_from(
        [
            b"#include <gone.h>",
            b'#include "gone.h"',
            b"#include <stay.h>",
            b"#ifdef USE_ROCM",
            b"#if FOO",
            b"#else",
            b"#endif",
            b"// #include <gone.h>",
            b"/*",
            b"*/",
            b"int x;",
            b"#define A 1",
            b"",
            b'"',
            b"// \xe9",
            b"#if 0",
            b"#  include <cg/reduce.h>",
        ]
    ),
    max_size=14,
)


@given(LINES, st.sampled_from([b"\n", b"\r\n"]))
def test_any_edit_is_proven_and_idempotent(lines, newline):
    data = b"".join(line + newline for line in lines)
    after = edit(data, HEADERS)
    assert edit(after, HEADERS) == after
    if after != data:
        proof = prove_isolation("x.cu", data, after)
        assert proof.holds, proof.detail
        assert after.count(b"\r\n") == (after.count(b"\n") if newline == b"\r\n" else 0)
