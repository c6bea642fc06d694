#include <tuple>
// #include <cuda/std/tuple>

std::tuple<int, int> ends(int a, int b) { return {a, b}; }
const char* note = "cuda::std::tuple";
