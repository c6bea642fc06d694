#define FLAGS "flags.dat"
#include FLAGS
