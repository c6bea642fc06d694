from __future__ import annotations

import pytest

RULE = "libcudacxx"
TEXT = "void f() {\n  auto op = ::cuda::std::plus();\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("cuda::std::", "std::"),
        TEXT.replace("::cuda::std::", "at::cuda::"),
        TEXT.replace("::cuda::std::", "my::cuda::std::"),
        "#include <cuda.h>\n#include <cuda_runtime.h>\n#include <my/cuda/std/tuple>\n#include <cuda/atomics.h>\n",
        "// cuda::std::plus\n",
        'const char* s = "cuda::std::plus";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef __HIP_PLATFORM_AMD__\n{TEXT}#endif\n",
        "#include <cuda/std/",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 13)]),
        (TEXT.replace(" ::cuda", " cuda"), [(2, 13)]),
        ("#include <cuda/std/tuple>\r\n", [(1, 1)]),
        ("#include <cuda/atomic>\n#include <nv/target>\n", [(1, 1), (2, 1)]),
        (
            "struct D {\n  ::cuda::std::tuple<int&, cuda::std::pair<int, int>> operator()(int3& k) const;\n};\n",
            [(2, 3)],
        ),
        (f"#if CUDART_VERSION >= 12090\n{TEXT}#endif\n", [(3, 13)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 13)]


def test_message_names_what_is_used(findings):
    (finding,) = findings(RULE, "a.cu", TEXT.replace("plus()", "tuple<int, int>{}"))

    assert (finding.code, finding.severity) == ("CU207", "error")
    assert finding.message.startswith("cuda::std::tuple belongs to libcu++,")
