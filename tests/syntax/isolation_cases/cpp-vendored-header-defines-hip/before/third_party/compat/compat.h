#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 0
#endif
