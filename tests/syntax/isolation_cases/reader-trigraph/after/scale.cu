// ready??/
#if defined(USE_ROCM)
float first = 3;
#else
float first = 1;
#endif
float second = 2;
