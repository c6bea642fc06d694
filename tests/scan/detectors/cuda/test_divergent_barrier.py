from __future__ import annotations

import pytest

RULE = "divergent_barrier"


def kernel(body: str) -> str:
    return f"__global__ void f(float* x, int n) {{\n{body}\n}}\n"


IF = kernel("  int i = threadIdx.x;\n  if (i < n) {\n    __syncthreads();\n  }")


@pytest.mark.parametrize(
    "text",
    [
        kernel("if (threadIdx.x < n) { x[0] = 1; }\n__syncthreads();"),
        kernel("if (threadIdx.x >= n) return;\n__syncthreads();"),
        kernel("if (blockIdx.x < n) { __syncthreads(); }"),
        kernel("if (n > 32) { __syncthreads(); }"),
        kernel("for (int i = 0; i < n; ++i) { __syncthreads(); }"),
        kernel("for (int s = blockDim.x / 2; s > 0; s /= 2) { if (threadIdx.x < s) { g(); } __syncthreads(); }"),
        kernel("for (;;) { __syncthreads(); if (n == 3) break; }"),
        kernel("for (;;) { __syncthreads(); for (int j = 0; j < n; ++j) { if (threadIdx.x < j) break; } }"),
        kernel("for (;;) { __syncthreads(); if (threadIdx.x < n) continue; x[0] = 1; }"),
        kernel("bool done = threadIdx.x < n;\nfor (;;) { if (__syncthreads_count(done) == 256) break; }"),
        kernel("int i = threadIdx.x; int votes = __syncthreads_or(i < n);\nif (votes) { __syncthreads(); }"),
        kernel("if (__syncthreads_or(threadIdx.x < n)) { g(); }"),
        kernel("if (threadIdx.x < 32) { __syncwarp(); }"),
        "int other() { int i = threadIdx.x; return i; }\nvoid f(int i) { if (i) { __syncthreads(); } }\n",
        kernel("// if (threadIdx.x < n) { __syncthreads(); }"),
        kernel("/* if (threadIdx.x < n) { __syncthreads(); } */"),
        kernel('const char* s = "if (threadIdx.x < n) { __syncthreads(); }";'),
        f"#if 0\n{IF}#endif\n",
        f"#ifndef USE_ROCM\n{IF}#endif\n",
        "__syncthreads();\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", IF) == []


@pytest.mark.parametrize(
    ("text", "expected", "branch"),
    [
        (IF, (4, 5), "i < n"),
        (IF.replace("\n", "\r\n"), (4, 5), "i < n"),
        (IF.replace("    __sync", "/* é */ __sync"), (4, 9), "i < n"),
        (kernel("if (threadIdx.x == 0) __syncthreads();"), (2, 23), "threadIdx.x == 0"),
        (kernel("if (n) g(); else if (threadIdx.y) { __syncthreads(); }"), (2, 37), "threadIdx.y"),
        (kernel("if (threadIdx.x) { g(); } else { __syncthreads(); }"), (2, 34), "threadIdx.x"),
        (kernel("int i = threadIdx.x; bool in = i < n;\nif (in) { __syncthreads(); }"), (3, 11), "in"),
        (kernel("for (int i = threadIdx.x; i < n; i += 32) { __syncthreads(); }"), (2, 45), "i < n"),
        (kernel("int i = block.thread_rank();\nwhile (i < n) { __syncthreads(); }"), (3, 17), "i < n"),
        (
            kernel("for (;;) {\n __syncthreads();\n if (threadIdx.x >= n) return;\n}"),
            (3, 2),
            "threadIdx.x >= n: return",
        ),
        (kernel("for (;;) {\n __syncthreads();\n if (threadIdx.x >= n) break;\n}"), (3, 2), "threadIdx.x >= n: break"),
        (b"// \xff\n" + IF.encode(), (5, 5), "i < n"),
    ],
)
def test_position_and_branch(findings, text, expected, branch):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column, finding.code) == (*expected, "CU108")
    assert finding.message.endswith(f"not every thread of the block takes ({branch})")


def test_one_finding_per_loop_that_threads_leave(positions):
    text = kernel("for (;;) {\n __syncthreads();\n if (threadIdx.x >= n) return;\n __syncthreads();\n}")

    assert positions(RULE, "a.cu", text) == [(3, 2)]


def test_deep_nesting_does_not_crash(positions):
    depth = 3000
    text = kernel("if (n) {" * depth + "__syncthreads();" + "}" * depth)

    assert positions(RULE, "a.cu", text) == []
