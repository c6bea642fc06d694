"""What the rewrites write for ROCm, run on emulated waves of 32 and 64 lanes against the CUDA text on warps of 32.

The texts are compiled as they come out of the rewrites. Ports that are known to be wrong stand beside them: the
emulation must see the difference.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest

from rocm3d.apply.rewrite import RewriteRefusedError, load_rewrite
from rocm3d.knowledge.load import load

EMULATED = Path(__file__).parent / "emulated"
THREADS = 112  # not a multiple of either width
RECIPES = (
    "ballot-64-bit", "active-mask-64-bit", "match-any-rebuilt", "lane-mask-by-backend", "syncwarp-wave-fence",
    "cooperative-groups-reduce-by-shuffles", "labeled-partition-rebuilt", "warp-size-per-architecture",
)  # fmt: skip

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")

# Each kernel is `void NAME(const int* in, int* out)`; `in` has a number between -4 and 4 for every thread.
KERNELS = {
    "votes_of_32": """
  int i = threadIdx.x, lane = i & 31;
  unsigned votes = __ballot_sync(0xffffffff, in[i] > 0);
  if (lane == 31) out[200 + i / 32] = __popc(votes);
  if (lane == 0) out[300 + i / 32] = __ffs(votes);
  out[i] = votes >> lane & 1;""",
    "votes_of_some": """
  int i = threadIdx.x;
  if (in[i] < 3) {
    unsigned who = __activemask();
    unsigned votes = __ballot_sync(who, in[i] > 0);
    out[i] = 1000 * __popc(who) + __popc(votes) + 31 * (i % 32);
  }""",
    "votes_of_the_wave": """
  int i = threadIdx.x;
  unsigned votes = __ballot_sync(0xffffffff, in[i] > 0);
  int before = __popc(votes & ((1u << (i % warpSize)) - 1u));
  if (i % warpSize == 0) atomicAdd(&out[200], __popc(votes));
  out[i] = in[i] > 0 ? (before < i) + (votes != 0) : 0;""",
    "slots_of_32": """
  int i = threadIdx.x;
  out[i] = -1;
  if (in[i] > 0) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, first = 0;
    if ((i & 31) == leader) first = atomicAdd(&out[200], __popc(active));
    first = __shfl_sync(active, first, leader);
    out[i] = first + __popc(active & ((1u << (i & 31)) - 1u));
  }""",
    "slots_of_the_wave": """
  int i = threadIdx.x;
  out[i] = -1;
  if (in[i] > 0) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1;
    int first = 0;
    if (i % warpSize == leader) first = atomicAdd(&out[200], __popc(active));
    first = __shfl_sync(active, first, leader);
    out[i] = first + __popc(active & ((1u << (i % warpSize)) - 1u));
  }""",
    "peers_of_32": """
  int i = threadIdx.x;
  unsigned peers = __match_any_sync(__activemask(), in[i]);
  out[i] = __popc(peers) + 100 * (__ffs(peers) - 1);
  if (__ffs(peers) - 1 == (i & 31)) atomicAdd(&out[204 + in[i]], __popc(peers));""",
    "peers_of_the_wave": """
  int i = threadIdx.x;
  unsigned peers = __match_any_sync(0xffffffff, in[i]);
  if (__ffs(peers) - 1 == i % warpSize) atomicAdd(&out[204 + in[i]], __popc(peers));""",
    "peers_by_bits": """
  int i = threadIdx.x;
  float key = in[i] == 0 ? NAN : in[i] == 1 ? 0.0f : in[i] == 2 ? -0.0f : 1.0f;
  out[i] = __popc(__match_any_sync(0xffffffff, key)) + (i & 31);""",
    "peers_of_wide_keys": """
  int i = threadIdx.x;
  long long key = (long long)in[i] << 40;
  out[i] = __popc(__match_any_sync(0xffffffff, key)) + (i & 31);""",
    "any_and_all": """
  int i = threadIdx.x;
  if (in[i] < 3) out[i] = __any_sync(__activemask(), in[i] > i % 3) + 2 * __all_sync(0xffffffff, in[i] < 3 - i / 32);
  out[i] += 4 * __any_sync(0xffffffff, i % 32 == 31 && i / 32 == 1);""",
    "any_of_the_wave": """
  int i = threadIdx.x;
  out[i] = __any_sync(0xffffffff, in[i] > 3) + 2 * __all_sync(0xffffffff, in[i % warpSize] > 9);""",
    "sum_of_32": """
  int i = threadIdx.x, value = i < 96 ? in[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  if (i < 96 && i % 32 == 0) out[i / 32] = value;""",
    "sum_of_the_wave": """
  int i = threadIdx.x, value = i < 64 ? in[i] : 0;
  if (i < 64) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    if (i % warpSize == 0) atomicAdd(&out[0], value);
  }""",
    "rotated": """
  __shared__ int tile[256];
  int i = threadIdx.x;
  tile[i] = in[i];
  __syncwarp();
  if (i < 96) out[i] = tile[i / 32 * 32 + (i + 1) % 32];""",
    "sums_of_tiles": """
  int i = threadIdx.x;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto small = cg::tiled_partition<8>(block);
  if (i < 96) {
    int sum = cg::reduce(warp, in[i], cg::plus<int>());
    int least = cg::reduce(small, in[i] * (i + 1), cg::less<int>());
    out[i] = 10000 * sum + least;
  }""",
    "labels": """
  int i = threadIdx.x;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto small = cg::tiled_partition<8>(cg::this_thread_block());
  auto group = cg::labeled_partition(warp, in[i]);
  auto part = cg::labeled_partition(small, in[i]);
  out[i] = 10000 * int(part.size()) + 1000 * int(part.thread_rank());
  out[i] += 40 * int(group.size()) + int(group.thread_rank());""",
    "count_by_constant": """
  int i = threadIdx.x;
#if defined(USE_ROCM)
  int votes = __popcll(__ballot(in[i] > 0));
#else
  int votes = __popc(__ballot_sync(0xffffffffu, in[i] > 0));
#endif
  if (i % WARP_SIZE == 0) atomicAdd(&out[0], votes);""",
}
ABOVE = {
    "sums_of_tiles": "#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n",
    "labels": "namespace cg = cooperative_groups;\n",
    "count_by_constant": "#undef WARP_SIZE\n#define WARP_SIZE 32\n",
}
# How published ports got it wrong, as they would stand in the ROCm branch.
WRONG = {
    "votes_of_32: upper half lost": """
  int i = threadIdx.x, lane = i & 31;
  unsigned votes = __ballot(in[i] > 0);
  if (lane == 31) out[200 + i / 32] = __popc(votes);
  if (lane == 0) out[300 + i / 32] = __ffs(votes);
  out[i] = votes >> lane & 1;""",
    "votes_of_the_wave: mask of 32 lanes": """
  int i = threadIdx.x;
  unsigned long long votes = __ballot(in[i] > 0) & 0xffffffffull;
  int before = __popcll(votes & ((1ull << (i % warpSize)) - 1ull));
  if (i % warpSize == 0) atomicAdd(&out[200], __popcll(votes));
  out[i] = in[i] > 0 ? (before < i) + (votes != 0) : 0;""",
    "votes_of_32: two leaders 31": """
  int i = threadIdx.x, lane = i & 31;
  unsigned long long votes = __ballot(in[i] > 0);
  if (lane == 31) out[200 + i / 32] = __popcll(votes);
  if (lane == 0) out[300 + i / 32] = __ffsll(votes);
  out[i] = votes >> (i % warpSize) & 1;""",
    "peers_of_32: all lanes for peers": """
  int i = threadIdx.x;
  unsigned long long peers = __ballot(1);
  out[i] = __popcll(peers) + 100 * (__ffsll(peers) - 1);
  if (__ffsll(peers) - 1 == (i & 31)) atomicAdd(&out[204 + in[i]], __popcll(peers));""",
    "rotated: a fence alone": """
  __shared__ int tile[256];
  int i = threadIdx.x;
  tile[i] = in[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  if (i < 96) out[i] = tile[i / 32 * 32 + (i + 1) % 32];""",
    "sum_of_the_wave: shuffles of width 32": """
  int i = threadIdx.x, value = i < 64 ? in[i] : 0;
  if (i < 64) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset, 32);
    if (i % warpSize == 0) atomicAdd(&out[0], value);
  }""",
}


def source(name: str, body: str) -> bytes:
    return f"{ABOVE.get(name, '')}__global__ void {name}(const int* in, int* out) {{{body}\n}}\n".encode()


def ported(name: str, body: str) -> bytes:
    """The kernel after every recipe of the list, in the order that apply takes them; a refusal changes nothing."""
    data, recipes = source(name, body), load().recipes
    for recipe in sorted(RECIPES):
        with contextlib.suppress(RewriteRefusedError):
            data = load_rewrite(recipes[recipe].rewrite)(data, recipes[recipe].parameters)
    return data


def results(folder: Path, sources: dict[str, bytes], *flags: str) -> dict[str, list[int]]:
    """What each kernel leaves in `out`, and under "events" what `rotated` does to memory."""
    folder.mkdir(exist_ok=True)
    calls = []
    for index, (name, data) in enumerate(sources.items()):
        (folder / f"{index}.cu").write_bytes(data)
        calls.append(f'  show("{name}", {name});')
    (folder / "hip").mkdir(exist_ok=True)
    (folder / "hip" / "hip_version.h").write_text("#define HIP_VERSION 60400000\n")
    (folder / "cooperative_groups").mkdir(exist_ok=True)
    (folder / "cooperative_groups" / "reduce.h").write_text("")
    includes = [f'#include "{index}.cu"' for index in range(len(sources))]
    (folder / "main.cpp").write_text(MAIN % ("\n".join(includes), "\n".join(calls)))
    run = [
        "g++",
        "-std=c++17",
        "-O0",
        "-fno-omit-frame-pointer",
        "-w",
        "-I",
        str(folder),
        "-I",
        str(EMULATED),
        *flags,
        "-o",
        str(folder / "main"),
    ]
    built = subprocess.run([*run, str(folder / "main.cpp")], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:4000]
    lines = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: [int(text) for text in values.split()] for name, _, values in (line.partition("=") for line in lines)}


MAIN = """#include "wave.h"
%s
static int in[512], out[512];
static void show(const char* name, void (*kernel)(const int*, int*)) {
  for (int i = 0; i < 512; ++i) in[i] = (i * 7 + i / 5 * 3) %% 9 - 4, out[i] = 0;
  events.clear();
  run_block(112, [&] { kernel(in, out); });
  printf("%%s=", name);
  for (int i = 0; i < 512; ++i) printf("%%d ", out[i]);
  printf("\\n%%s events=", name);
  for (int event : events) printf("%%d ", event);
  puts("");
}
int main() {
%s
}
"""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    sources = {name: source(name, body) for name, body in KERNELS.items()}
    return results(tmp_path_factory.mktemp("cuda"), sources, "-DCUDA", "-DWAVE=32")


@pytest.fixture(scope="module", params=[32, 64])
def rocm(request, tmp_path_factory):
    sources = {name: ported(name, body) for name, body in KERNELS.items()}
    flags = ["-DUSE_ROCM", "-D__HIP__", f"-DWAVE={request.param}", *(["-D__GFX9__"] if request.param == 64 else [])]
    return results(tmp_path_factory.mktemp(f"rocm{request.param}"), sources, *flags)


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    sources = {f"wrong_{index}": source(f"wrong_{index}", body) for index, body in enumerate(WRONG.values())}
    result = results(tmp_path_factory.mktemp("wrong"), sources, "-DUSE_ROCM", "-D__HIP__", "-DWAVE=64")
    return {name: result[f"wrong_{index}"] for index, name in enumerate(WRONG)}


@pytest.mark.parametrize("name", [name for name in KERNELS if not name.startswith("slots")])
def test_the_same_as_on_a_warp(name, cuda, rocm):
    assert any(cuda[name])
    assert rocm[name] == cuda[name]


@pytest.mark.parametrize("name", ["slots_of_32", "slots_of_the_wave"])
def test_every_lane_gets_a_distinct_slot(name, cuda, rocm):
    """Which lane gets which depends on who comes first, on any hardware."""
    for result in (cuda[name], rocm[name]):
        slots = sorted(slot for slot in result[:THREADS] if slot >= 0)
        assert slots == list(range(result[200]))
        assert len(slots) == sum(value > 0 for value in (((i * 7 + i // 5 * 3) % 9 - 4) for i in range(THREADS)))


def test_barrier_is_between_release_and_acquire(rocm):
    release, barrier, acquire = 3, -1, 2  # as gcc numbers the orders

    assert rocm["rotated events"] == [release, barrier, acquire] * (len(rocm["rotated events"]) // 3)
    assert rocm["rotated events"]


@pytest.mark.parametrize("name", WRONG)
def test_known_mistakes_give_wrong_results_on_a_wave_of_64(name, cuda, wrong):
    assert wrong[name] != cuda[name.partition(":")[0]]
