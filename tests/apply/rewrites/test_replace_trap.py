from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.replace_trap import edit

TRAP = {"calls": ["__trap", "__brkpt"], "instead": "__builtin_trap"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// __trap();\n",
        'const char* s = "__trap()";\n',
        "void mouse__trap();\n",
        "#define __trap() abort()\nvoid f() { __trap(); }\n",
        "#ifdef USE_ROCM\nvoid f() { __trap(); }\n#endif\n",
        "#ifndef USE_ROCM\nvoid f() { __trap(); }\n#endif\n",
        "#if 0\nvoid f() { __trap(); }\n#endif\n",
        "void f() { obj.__trap(); }\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), TRAP) == text.encode()


@pytest.mark.parametrize("call", ["__trap();", "::__trap ();", "__brkpt();", "if (bad) { __trap(); }"])
def test_the_call_becomes_the_builtin_on_rocm_only(call):
    before = f"__device__ void f(bool bad) {{\n  {call}\n}}\n".encode()

    after = proven_edit(edit, before, TRAP)

    assert b"__builtin_trap" in after
