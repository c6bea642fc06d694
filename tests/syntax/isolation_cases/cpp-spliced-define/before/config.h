#define USE_\
ROCM 0
