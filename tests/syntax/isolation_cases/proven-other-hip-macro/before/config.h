#ifndef __HIP_UTILS_H__
#define __HIP_UTILS_H__
#define STEPS 4
#endif
