#pragma once
#undef USE_ROCM
