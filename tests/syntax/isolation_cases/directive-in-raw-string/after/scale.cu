const char* text = R"(
#if defined(USE_ROCM)
b
#endif
a
)";
