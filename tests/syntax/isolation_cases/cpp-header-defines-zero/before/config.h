#pragma once
#define USE_ROCM 0
