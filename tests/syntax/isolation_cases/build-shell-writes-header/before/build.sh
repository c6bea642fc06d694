cat > flags.h <<END
#define USE_ROCM 0
END
nvcc -include flags.h scale.cu
