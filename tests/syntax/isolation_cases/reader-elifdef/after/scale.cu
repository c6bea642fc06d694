#if defined(USE_ROCM)
float first = 3;
#elifdef STEPS
float first = 1;
#endif
