float first = 1;
#if defined(USE_ROCM)
// three#else
float second = 3;
#endif
