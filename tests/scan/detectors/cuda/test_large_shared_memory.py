from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

RULE = "large_shared_memory"
SAMPLE = "__global__ void k() { __shared__ float tile[20000]; }\n"


@pytest.fixture(scope="module")
def known(known):
    """Two targets: the smaller one sets the limit."""
    return replace(known, targets={"small": SimpleNamespace(lds_kib=64), "large": SimpleNamespace(lds_kib=160)})


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", SAMPLE) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_no_finding_in_code_of_one_backend(positions, guard):
    assert positions(RULE, "a.cu", f"{guard}\n{SAMPLE}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_no_finding_in_comments_and_strings(positions, text):
    assert positions(RULE, "a.cu", text.format(SAMPLE.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    "text",
    [
        SAMPLE.replace("20000", "16384"),
        SAMPLE.replace("__shared__ ", ""),
        SAMPLE.replace("20000", "N"),
        SAMPLE.replace("float", "mine_t"),
        "extern __shared__ float tile[];\n",
        "__global__ void a() { __shared__ float x[9000]; }\n__global__ void b() { __shared__ float x[9000]; }\n",
        "void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); }\n",
        "void f() { cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 98304); }\n",
        "void f() { k<<<g, b, 65536>>>(); k<<<g, b, smem>>>(); k<<<98304, b>>>(); }\n",
        "#ifdef USE_ROCM\n#define N 100\n#else\n#define N 20000\n#endif\n" + SAMPLE.replace("20000", "N"),
        SAMPLE.replace("20000", "1" * 5000),
        SAMPLE.replace("20000", "1 << (0 - 1)"),
    ],
)
def test_no_finding_below_the_limit_or_for_unknown_sizes(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        (SAMPLE, "80000", (1, 23)),
        (SAMPLE.replace("[20000]", "[200][100]"), "80000", (1, 23)),
        (SAMPLE.replace("float", "uint64_t").replace("20000", "0x2001"), "65544", (1, 23)),
        (SAMPLE.replace("float", "float4").replace("20000", "64 * 64 + 1"), "65552", (1, 23)),
        ("#define N (1 << 15)\n" + SAMPLE.replace("20000", "N"), "131072", (2, 23)),
        ("constexpr int N = 16385;\n" + SAMPLE.replace("20000", "N"), "65540", (2, 23)),
        ("__global__ void k() {\n  __shared__ float a[9000];\n  __shared__ float b[9000];\n}\n", "72000", (3, 3)),
        (
            "void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304); }\n",
            "98304",
            (1, 81),
        ),
        ("void f() { k<<<g, b, 96 * 1024>>>(); }\n", "98304", (1, 22)),
        ("void f() { k<<<g, b, 20000 * sizeof(float)>>>(); }\n", "80000", (1, 22)),
    ],
)
def test_position_and_message(findings, text, size, expected):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column, finding.severity) == (*expected, "error")
    assert finding.message == f"the kernel requests {size} bytes of shared memory; a block has 64 KB on most AMD GPUs"


def test_request_of_an_unknown_size_is_a_note(findings):
    text = "void f(int smem) { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, smem); }\n"

    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column, finding.severity) == (1, 89, "note")
    assert finding.message.startswith("the kernel requests smem bytes")
