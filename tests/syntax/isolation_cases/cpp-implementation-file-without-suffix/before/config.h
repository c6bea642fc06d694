#include "flags"
