#define \
 USE_ROCM 0
