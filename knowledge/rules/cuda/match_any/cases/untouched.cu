// peers = __match_any_sync(mask, key) is what the CUDA version does
const char* help = "__match_any_sync";
bool match_any(const int* keys, int n, int key) {
  for (int i = 0; i < n; ++i) {
    if (keys[i] == key) return true;
  }
  return false;
}
