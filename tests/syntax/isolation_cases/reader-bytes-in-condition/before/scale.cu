#if defined(USE_ROCM) || 'é' == -23
float first = 1;
#endif
