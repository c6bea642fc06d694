NVCC_FLAGS = ["--define-macro", "USE_ROCM=0"]
