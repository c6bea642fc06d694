from __future__ import annotations

import pytest

RULE = "inline_ptx"
SAMPLE = '__device__ int lane() { int r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }\n'


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    ("text", "instruction", "counterpart"),
    [
        (SAMPLE, "mov.u32 %laneid", "__lane_id()"),
        ('__device__ void f() { asm volatile("membar.gl;"); }\n', "membar.gl", "__threadfence()"),
        (
            '__device__ void f() { asm("{ .reg .pred p;" "setp.ne.b32 p, %0, 0; }" :: "r"(x)); }\n',
            "setp.ne.b32",
            "by hand",
        ),
        ('void f() { asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(v)); }\n', "bfind.u32", "31 - __clz(x)"),
        ('__global__ void f() { asm("exit;"); }\n', "exit", "by hand"),
    ],
)
def test_instruction_and_counterpart(findings, text, instruction, counterpart):
    (finding,) = findings(RULE, "a.cu", text)

    assert finding.code == "CU401"
    assert finding.message.startswith(f"inline PTX ({instruction}):")
    assert counterpart in finding.hint
