nvcc -DUSE_ROCM=0 scale.cu
