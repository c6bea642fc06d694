#define RUN(x) x
RUN(int a;
#if defined(USE_ROCM)
int b;
#endif
)
