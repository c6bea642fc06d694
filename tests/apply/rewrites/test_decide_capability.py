from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.decide_capability import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp

MAJOR = {"properties": ["cudaDeviceProp", "getCurrentDeviceProperties"], "on_rocm": "false"}


def host(text: str) -> bytes:
    return f"bool f(int d) {{\n  cudaDeviceProp prop;\n  cudaGetDeviceProperties(&prop, d);\n  {text}\n}}\n".encode()


@pytest.mark.parametrize(
    "text",
    [
        'TORCH_CHECK(prop.major >= 8, "too old");',
        "assert(prop.major >= 8);",
        "return !(prop.major >= 8);",
        "return prop.major < 8;",
        "int arch = prop.major * 10 + prop.minor;",
        "g(prop.major);",
        "switch (prop.major) { default: return true; }",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(host(text), MAJOR)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"bool f(Version v) { return v.major >= 8; }\n",
        host("// prop.major >= 8"),
        host("return v.major >= 8;"),
        b"#ifndef USE_ROCM\n" + host("return prop.major >= 8;") + b"#endif\n",
    ],
)
def test_stays_untouched(data):
    assert edit(data, MAJOR) == data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return prop.major >= 8;", "return false;"),
        ("return prop.major == 9 && prop.minor == 0;", "return false && prop.minor == 0;"),
        ("if (prop.major * 10 + prop.minor >= 75) { return true; }", "if (false) { return true; }"),
        ("return at::cuda::getCurrentDeviceProperties()->major > 7;", "return false;"),
        ("return (prop.major >= 8) || force(prop.major >= 9);", "return (false) || force(false);"),
    ],
)
def test_uses_the_general_code_on_rocm(text, expected):
    before = host(text)

    after = proven_edit(edit, before, MAJOR)

    assert f"  {expected}\n".encode() in fold_cpp(after, assume_rocm)
