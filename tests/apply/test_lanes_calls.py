from __future__ import annotations

import pytest

from rocm3d.apply.lanes import FULL_MASK, group_alias, lane_calls, mask_argument
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit


def call_names(text: str, *names: str):
    return list(lane_calls(CudaUnit("", text.encode()), names or ("__any_sync",)))


def test_a_file_that_declares_the_name_is_refused():
    with pytest.raises(RewriteRefusedError, match="declared"):
        call_names("__device__ int __any_sync(unsigned m, at::Half p);\n")


@pytest.mark.parametrize(
    "text",
    [
        "// __any_sync(m, p)\n",
        "void f() { own::__any_sync(m, p); g.__any_sync(m, p); my__any_sync(m, p); }\n",
        "#ifdef USE_ROCM\n#define __any_sync(m, p) __any(p)\n#endif\nvoid f() { __any_sync(m, p); }\n",
        "#ifndef USE_ROCM\nvoid f() { __any_sync(m, p); }\n#endif\n",
    ],
)
def test_text_without_a_call(text):
    assert call_names(text) == []


def test_calls_in_code_and_in_macros():
    text = "#define ANY(p) __any_sync(-1, p)\nvoid f(int t) { if (::__any_sync(m, t % warpSize)) g(); }\n"

    macro, call = call_names(text)

    assert (macro.node, macro.lanes) == (None, "group")
    assert call.lanes == "wave"
    assert text[call.start : call.end] == "__any_sync"
    assert mask_argument(CudaUnit("", text.encode()), call.node) == "m"


def test_the_alias_of_a_call():
    use = group_alias(call_names("void f() { __shfl_up_sync(m, v, 1); }\n", "__shfl_up_sync")[0])

    assert (use.alias.macro_name, use.alias.cuda, use.alias.rocm) == (
        "ROCM3D_SHFL_UP",
        "__shfl_up_sync",
        "rocm3d_shfl_up",
    )


@pytest.mark.parametrize(
    ("mask", "full"), [("0xffffffff", True), ("-1", True), ("FULL", True), ("m", False), ("1", False)]
)
def test_masks_of_all_lanes(mask, full):
    assert bool(FULL_MASK.fullmatch(mask)) == full
