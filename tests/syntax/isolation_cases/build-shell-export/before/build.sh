#!/bin/sh
export NVCC_APPEND_FLAGS='-DUSE_ROCM=0'
python setup.py install
