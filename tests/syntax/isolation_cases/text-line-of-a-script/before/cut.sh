sed -n 4p scale.cu
