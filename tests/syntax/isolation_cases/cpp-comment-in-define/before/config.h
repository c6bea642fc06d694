# /* on */ define /* off
*/ USE_ROCM 0
