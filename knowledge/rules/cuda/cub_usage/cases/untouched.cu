#include <cub/cub.cuh>

using TileSum = cub::WarpReduce<float, 16>;
using BlockSum = cub::BlockReduce<float, 256>;
// using WarpSum = cub::WarpReduce<float>;
