#include "flags.inc"
