from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.alias_nvtx import edit
from rocm3d.syntax.isolation import prove_isolation

NVTX = {
    "headers": ["nvToolsExt.h", "nvtx3/nvToolsExt.h"],
    "instead": "roctracer/roctx.h",
    "prefix": "nvtx",
    "rocm_prefix": "roctx",
    "names": ["RangePushA", "RangePop", "MarkA"],
}


@pytest.mark.parametrize("use", ["nvtxRangePushEx(&attributes);", "nvtxEventAttributes_t attributes;"])
def test_unknown_names_are_refused(use):
    with pytest.raises(RewriteRefusedError, match="no counterpart"):
        edit(f"#include <nvToolsExt.h>\nvoid f() {{ {use} }}\n".encode(), NVTX)


@pytest.mark.parametrize(
    "text",
    ["", "// #include <nvToolsExt.h>\n", "#ifndef USE_ROCM\n#include <nvToolsExt.h>\n#endif\n", '#include "nv.h"\n'],
)
def test_stays_untouched(text):
    assert edit(text.encode(), NVTX) == text.encode()


@pytest.mark.parametrize("include", ["<nvToolsExt.h>", "<nvtx3/nvToolsExt.h>", '"nvToolsExt.h"'])
def test_defines_the_used_names_after_the_header(include):
    before = f'#include {include}\nvoid f() {{\n  nvtxRangePushA("nvtxMarkA");\n  nvtxRangePop();\n}}\n'.encode()

    after = proven_edit(edit, before, NVTX, "x.cpp")

    assert b"#include <roctracer/roctx.h>\n#define nvtxRangePushA roctxRangePushA\n#define nvtxRangePop " in after
    assert b"MarkA roctx" not in after


def test_hides_a_second_header_on_rocm():
    before = b"#include <nvToolsExt.h>\n#include <nvtx3/nvToolsExt.h>\n"

    after = edit(before, NVTX)

    assert after.count(b"roctx.h") == 1
    assert prove_isolation("x.cpp", before, after).holds
