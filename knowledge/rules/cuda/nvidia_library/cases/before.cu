#include <nvToolsExt.h>

void step() {
  nvtxRangePushA("step");
  nvtxRangePop();
}
