// asm("mov.u32 %0, %%laneid;" : "=r"(lane));
const char* note = "mov.u32 %0, %%laneid;";
__device__ unsigned fenced(unsigned value) {
  asm volatile("" ::: "memory");
  return value;
}
