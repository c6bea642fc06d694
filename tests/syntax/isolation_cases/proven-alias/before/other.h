#ifndef ROCM3D_VOTE
#if defined(USE_ROCM)
#define ROCM3D_VOTE(m, v) __ballot(v)
#else
#define ROCM3D_VOTE(m, v) __ballot_sync(m, v)
#endif
#endif
