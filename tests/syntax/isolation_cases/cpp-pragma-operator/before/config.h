_Pragma("push_macro(\"USE_ROCM\")")
