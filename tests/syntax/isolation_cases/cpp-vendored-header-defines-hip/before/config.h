#include <compat.h>
