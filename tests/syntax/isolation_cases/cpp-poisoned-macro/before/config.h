#pragma once
#pragma GCC poison USE_ROCM
