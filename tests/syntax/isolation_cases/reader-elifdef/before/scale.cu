#ifdef STEPS
float first = 1;
#endif
