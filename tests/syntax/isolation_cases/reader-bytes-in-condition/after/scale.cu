#if defined(USE_ROCM) || 'è' == -23
float first = 1;
#endif
