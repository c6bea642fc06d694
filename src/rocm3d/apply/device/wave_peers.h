// Active lanes of the wave whose key has the same bits: one round for each distinct key, all lanes together.
template <typename T>
__device__ inline unsigned long long rocm3d_wave_peers(T key) {
  static_assert(sizeof(T) <= 8, "a key has 64 bits at most");
  unsigned long long bits = 0, left = __ballot(1), peers = 0;
  __builtin_memcpy(&bits, &key, sizeof(T));
  while (left != 0) {
    unsigned long long same = __ballot(__shfl(bits, __ffsll(left) - 1) == bits);
    if (same >> __lane_id() & 1) peers = same;
    left &= ~same;
  }
  return peers;
}
