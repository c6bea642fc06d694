float first = 1;
#if defined(USE_ROCM)
float second = 3;
%:else
float second = 2;
#endif
