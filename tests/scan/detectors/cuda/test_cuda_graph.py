from __future__ import annotations

import pytest

RULE = "cuda_graph"
SAMPLE = "void f() { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }\n"


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
        "void f() { cudaStreamSynchronize(s); my::cudaGraphLaunch(g, s); }\n",
        "void f() { hipStreamBeginCapture(s, m); }\n",
        "cudaGraph_t graph;\n",
    ],
)
def test_no_finding_for_other_calls(positions, text):
    assert positions(RULE, "a.cpp", text) == []


@pytest.mark.parametrize(
    ("text", "call", "severity", "expected"),
    [
        (SAMPLE, "cudaStreamBeginCapture", "warning", (1, 12)),
        (SAMPLE + SAMPLE + "void g() { cudaGraphLaunch(e, s); }\n", "cudaStreamBeginCapture", "warning", (1, 12)),
        ("void g() {\n  cudaGraphLaunch(e, s);\n}\n", "cudaGraphLaunch", "note", (2, 3)),
        ("void g() { cudaGraphInstantiate(&e, g, 0, 0, 0); }\n", "cudaGraphInstantiate", "note", (1, 12)),
        (
            "void g() { cudaGraphInstantiate(&e, g, 0); }\n",
            "cudaGraphInstantiate (the five-argument form in ROCm 7)",
            "warning",
            (1, 12),
        ),
    ],
)
def test_position_and_message(findings, text, call, severity, expected):
    (finding,) = findings(RULE, "a.cpp", text)

    assert (finding.line, finding.column, finding.severity) == (*expected, severity)
    assert finding.message == f"{call}: HIP has graphs, but errors inside a capture may be silent"
