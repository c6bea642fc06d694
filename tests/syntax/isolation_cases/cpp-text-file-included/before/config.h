#include "flags.txt"
