// Every lane of a tile gets the result of all its lanes.
template <typename Tile, typename T, typename Operation>
__device__ inline T rocm3d_reduce(const Tile& tile, T value, Operation operation) {
  for (unsigned step = tile.size() / 2; step > 0; step /= 2) value = operation(value, tile.shfl_xor(value, step));
  return value;
}
