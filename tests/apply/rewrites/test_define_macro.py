from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.define_macro import edit

LIMIT = {"call": "__maxnreg__", "define": "#define __maxnreg__(count)"}
KERNEL = "__global__ void __maxnreg__(64) k(float* x) { x[0] = 1; }\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// __maxnreg__(64)\n",
        "__global__ void __launch_bounds__(64) k() {}\n",
        f"#ifndef USE_ROCM\n{KERNEL}#endif\n",
        f"#define __maxnreg__(n)\n{KERNEL}",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), LIMIT) == text.encode()


@pytest.mark.parametrize("head", ["", "#include <cuda_runtime.h>\n", "#define LIMITED __maxnreg__(32)\n"])
def test_the_attribute_is_empty_on_rocm(head):
    before = f"{head}{KERNEL}".encode()

    after = proven_edit(edit, before, LIMIT)

    assert after.count(b"#define __maxnreg__(count)\n#endif\n") == 1
    assert after.index(b"(count)") < after.index(b"__maxnreg__(64)")
