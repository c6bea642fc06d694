#if STEPS > 2
float first = 1;
#elif defined(WIDE)
float first = 2;
#endif
