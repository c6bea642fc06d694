#undef ROCM3D_VOTE
#define ROCM3D_VOTE(m, v) 0
