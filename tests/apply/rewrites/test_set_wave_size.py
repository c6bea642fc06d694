from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.set_wave_size import edit
from rocm3d.syntax.isolation import prove_isolation

SIZE = {"wave64": ["__GFX9__"], "narrow": 32, "wide": 64}
VOTE = "#ifdef USE_ROCM\n  n = __popcll(__ballot(n));\n#else\n  n = __popc(__ballot_sync(-1, n));\n#endif\n"
KERNEL = f"__device__ int f(int n, int t) {{\n{VOTE}  return n + t % WARP_SIZE;\n}}\n"
DEFINE = "#define WARP_SIZE 32\n"


@pytest.mark.parametrize(
    "text",
    [
        DEFINE + KERNEL + "int blocks(int n) { return n / WARP_SIZE; }\n",
        DEFINE + KERNEL + "__host__ __device__ int g(int n) { return n / WARP_SIZE; }\n",
        DEFINE + KERNEL + "__global__ void __launch_bounds__(WARP_SIZE) k() {}\n",
        DEFINE + "#define LANES (2 * WARP_SIZE)\n" + KERNEL,
        DEFINE + KERNEL.replace("__popcll(__ballot(n))", "__shfl_down(n, 1, 32) + __ballot(n)"),
        DEFINE + KERNEL.replace("__ballot(n)", "(__ballot(n) >> (__lane_id() & 32u))"),
        DEFINE + "__device__ int f(int t) { return t % WARP_SIZE; }\n",
        "__device__ int f(int t) { return __ballot_sync(-1, t) >> (t & 31); }\n",
        "#ifdef USE_ROCM\nconstexpr int kWarpSize = 64;\n#endif\nint g() { return kWarpSize; }\n",
    ],
    ids=["host", "both", "bounds", "macro", "shuffles", "half", "no vote", "literal", "wide on the host"],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(text.encode(), SIZE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#define TILE_SIZE 32\n" + KERNEL.replace("WARP_SIZE", "TILE_SIZE"),
        "// #define WARP_SIZE 32\n",
        "#if defined(__GFX9__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif\n" + KERNEL,
        "#ifndef USE_ROCM\n#define WARP_SIZE 32\n#endif\n",
        "#define WARP_SIZE 64\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), SIZE) == text.encode()


@pytest.mark.parametrize(
    ("define", "wide", "narrow"),
    [
        (DEFINE, "#define WARP_SIZE 64\n", DEFINE),
        ("#define WARP_SIZE (32) // lanes\n", "#define WARP_SIZE (64) // lanes\n", "#define WARP_SIZE (32) // lanes\n"),
        ("constexpr int WARP_SIZE = 32;\n", "constexpr int WARP_SIZE = 64;\n", "constexpr int WARP_SIZE = 32;\n"),
    ],
)
def test_chooses_by_target_with_whole_wave_votes(define, wide, narrow):
    before = (define + KERNEL).encode()

    after = proven_edit(edit, before, {**SIZE, "guard": "torch"})

    assert after.decode().startswith(f"#if defined(USE_ROCM) && defined(__GFX9__)\n{wide}#else\n{narrow}#endif\n")


def test_chooses_by_target_in_a_rocm_branch():
    before = f"#ifdef USE_ROCM\n#define WAVE_SIZE 64\n#else\n#define WAVE_SIZE 32\n#endif\n{KERNEL}".encode()

    after = edit(before.replace(b"WARP_SIZE", b"WAVE_SIZE"), SIZE)

    choice = b"#if defined(__GFX9__)\n#define WAVE_SIZE 64\n#else\n#define WAVE_SIZE 32\n#endif\n"
    assert b"#ifdef USE_ROCM\n" + choice + b"#else\n" in after
    assert prove_isolation("x.cu", before.replace(b"WARP_SIZE", b"WAVE_SIZE"), after).holds
    assert edit(after, SIZE) == after
