from __future__ import annotations

import pytest

from rocm3d.apply.rewrites.join_launch_chevrons import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation


def host(text: str) -> bytes:
    return f"void go(float* x, int n) {{\n  {text}\n}}\n".encode()


@pytest.mark.parametrize(
    "text",
    [
        "k<<<1, 2>>>(x);",
        "int a = (n << 2) >> 1;",
        "std::vector<std::vector<std::vector<int> > > v(n);",
        "// k << <1, 2>> > (x);",
        'const char* s = "k << <1, 2>> > (x);";',
        "std::cout << n << (n < 3);",
    ],
)
def test_stays_untouched(text):
    assert edit(host(text), {}) == host(text)


def test_a_cuda_branch_stays():
    data = b"#ifndef USE_ROCM\nvoid go(float* x) {\n  k << <1, 2>> > (x);\n}\n#endif\n"

    assert edit(data, {}) == data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k << <1, 2 >> > (x);", b"k <<<1, 2 >>> (x);"),
        (
            "k<float, 3> << < (n + 1) / 2, dim3(4, 4) >> >(\n    x,\n    n);",
            b"k<float, 3> <<< (n + 1) / 2, dim3(4, 4) >>>(",
        ),
        ("if (n) k << <n >> 1, 2>> > (x);", b"k <<<n >> 1, 2>>> (x);"),
    ],
)
def test_guards_a_short_statement(text, expected):
    before = host(text)

    after = edit(before, {})

    assert expected in fold_cpp(after, assume_rocm)
    assert b"<< <" not in fold_cpp(after, assume_rocm)
    proof = prove_isolation("x.cu", before, after)
    assert (proof.holds, proof.kind) == (True, "cpp-directives-evaluated"), proof.detail
    assert edit(after, {}) == after


LONG = "k << <1, 2 >> > (\n" + "".join(f"    x + {i},\n" for i in range(30)) + "    x);"
DISPATCH = 'AT_DISPATCH_FLOATING_TYPES(t, "k", [&] {\n' + "    // more\n" * 30 + "    k << <1, 2>> > (x);\n  });"


@pytest.mark.parametrize(
    "before",
    [
        host(LONG),
        host(DISPATCH),
        b"#define GO(k, x) \\\n  do { k << <1, 2>> > (x); } while (0)\n",
        host("k << <1, 2>> > (x);\n  " + LONG),
    ],
    ids=["long", "dispatch", "macro", "both"],
)
def test_edits_in_place_if_a_guard_is_refused(before):
    after = edit(before, {})

    assert b"<< <" not in fold_cpp(after, assume_rocm)
    proof = prove_isolation("x.cu", before, after)
    assert (proof.holds, proof.kind) == (True, "closed-list"), proof.detail
    assert edit(after, {}) == after
