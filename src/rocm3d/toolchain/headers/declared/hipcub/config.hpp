#pragma once

// Includes what the real headers include, because programs rely on it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <rocm3d_declared/work.h>

#define HIPCUB_ROCPRIM_API 1
#define HIPCUB_VERSION 400000
#define HIPCUB_RUNTIME_FUNCTION __host__
#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST __host__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_WARP_THREADS warpSize
#define BEGIN_HIPCUB_NAMESPACE namespace hipcub {
#define END_HIPCUB_NAMESPACE }
