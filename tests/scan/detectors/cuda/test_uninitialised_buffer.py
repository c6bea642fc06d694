from __future__ import annotations

RULE = "uninitialised_buffer"
SAMPLE = """__global__ void count(int n, const int* ids, int* sums) { if (ids[n] >= 0) atomicAdd(&sums[ids[n]], 1); }
void f(int n, const int* ids) {
  int* sums;
  cudaMalloc(&sums, n * sizeof(int));
  count<<<n, 64>>>(n, ids, sums);
}
"""


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")
