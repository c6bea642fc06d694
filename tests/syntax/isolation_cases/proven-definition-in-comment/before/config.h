/*
#define USE_ROCM 0
*/
// \
#define USE_ROCM 0
#if 0
#define USE_ROCM 0
#endif
static const char* help = R"(
#define USE_ROCM 0
)";
