cmake_minimum_required(VERSION 3.21)
project(ops LANGUAGES CXX)
enable_language(CUDA)
add_library(ops SHARED ops.cu)
