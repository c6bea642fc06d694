#if STEPS > 2 && !defined(USE_ROCM)
float first = 1;
#elif defined(WIDE) || defined(USE_ROCM)
float first = 2;
#endif
