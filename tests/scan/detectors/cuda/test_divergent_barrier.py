from __future__ import annotations

import pytest

RULE = "divergent_barrier"


def kernel(body: str) -> str:
    return f"__global__ void f(float* x, int n) {{\n{body}\n}}\n"


IF = kernel("  int i = threadIdx.x;\n  if (i < n) {\n    __syncthreads();\n  }")


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


def test_deep_nesting_does_not_crash(positions):
    depth = 3000
    text = kernel("if (n) {" * depth + "__syncthreads();" + "}" * depth)

    assert positions(RULE, "a.cu", text) == []
