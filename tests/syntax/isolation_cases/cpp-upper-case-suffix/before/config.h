#include "flags.H"
