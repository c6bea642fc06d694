from __future__ import annotations

import pytest

RULE = "texture_reference"
FOUND = "texture<float, 2, cudaReadModeElementType> tex;\n"


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
        "cudaTextureObject_t tex;\n",
        "__device__ float f(cudaTextureObject_t t) { return tex2D<float>(t, 0, 0) + tex1Dfetch<float>(t, 1); }\n",
        "template <typename T> struct texture {};\ntexture<float> mine;\n",
        "gl::texture<float> mine;\n",
        "int texture = 1; bool b = texture < 3;\n",
        "desc.filterMode = cudaFilterModeLinear;\ndesc.readMode = cudaReadModeNormalizedFloat;\n",
    ],
)
def test_texture_objects_and_look_alikes_are_not_found(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "message", "severity", "where"),
    [
        (FOUND, "tex: texture reference; use a texture object", "error", (1, 1)),
        ("static " + FOUND, "tex: texture reference; use a texture object", "error", (1, 1)),
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
def test_found(findings, text, message, severity, where):
    (found,) = findings(RULE, "a.cu", text)

    assert (found.message, found.severity, (found.line, found.column)) == (message, severity, where)
