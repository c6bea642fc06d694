from __future__ import annotations

import pytest

RULE = "texture_reference"
SAMPLE = "texture<float, 2, cudaReadModeElementType> tex;\n"


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
        "cudaTextureObject_t tex;\n",
        "__device__ float f(cudaTextureObject_t t) { return tex2D<float>(t, 0, 0) + tex1Dfetch<float>(t, 1); }\n",
        "template <typename T> struct texture {};\ntexture<float> mine;\n",
        "gl::texture<float> mine;\n",
        "int texture = 1; bool b = texture < 3;\n",
        "desc.filterMode = cudaFilterModeLinear;\ndesc.readMode = cudaReadModeNormalizedFloat;\n",
    ],
)
def test_no_finding_for_texture_objects_and_similar_names(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "message", "severity", "expected"),
    [
        (SAMPLE, "tex: texture reference; use a texture object", "error", (1, 1)),
        ("static " + SAMPLE, "tex: texture reference; use a texture object", "error", (1, 1)),
        (
            "void f() { cudaBindTextureToArray(tex, a); }\n",
            "cudaBindTextureToArray: texture reference; use a texture object",
            "error",
            (1, 12),
        ),
        (
            "__device__ float f() { return tex2DLayered<float>(t, x, y, l); }\n",
            "tex2DLayered: layered arrays collapse on some targets",
            "warning",
            (1, 31),
        ),
        (
            "void f() {\n  d.readMode = cudaReadModeElementType;\n  d.filterMode = cudaFilterModeLinear;\n}\n",
            "cudaFilterModeLinear: rejected together with cudaReadModeElementType on float",
            "warning",
            (3, 18),
        ),
    ],
)
def test_position_and_message(findings, text, message, severity, expected):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.message, finding.severity, (finding.line, finding.column)) == (message, severity, expected)
