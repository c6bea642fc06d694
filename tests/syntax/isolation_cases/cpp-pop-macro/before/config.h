#pragma push_macro("USE_ROCM")
#pragma pop_macro("USE_ROCM")
