from __future__ import annotations

import pytest

RULE = "cuda_graph"
FOUND = "void f() { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }\n"


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", FOUND) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_is_not_found_where_one_backend_compiles(places, guard):
    assert places(RULE, "a.cu", f"{guard}\n{FOUND}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_is_not_found_in_comments_and_strings(places, text):
    assert places(RULE, "a.cu", text.format(FOUND.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_odd_bytes_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\xfe\n" + FOUND.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    "text",
    [
        "void f() { cudaStreamSynchronize(s); my::cudaGraphLaunch(g, s); }\n",
        "void f() { hipStreamBeginCapture(s, m); }\n",
        "cudaGraph_t graph;\n",
    ],
)
def test_other_calls_are_not_found(places, text):
    assert places(RULE, "a.cpp", text) == []


@pytest.mark.parametrize(
    ("text", "call", "severity", "where"),
    [
        (FOUND, "cudaStreamBeginCapture", "warning", (1, 12)),
        (FOUND + FOUND + "void g() { cudaGraphLaunch(e, s); }\n", "cudaStreamBeginCapture", "warning", (1, 12)),
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
def test_found(findings, text, call, severity, where):
    (found,) = findings(RULE, "a.cpp", text)

    assert (found.line, found.column, found.severity) == (*where, severity)
    assert found.message == f"{call}: HIP has graphs, but errors inside a capture may be silent"
