#pragma once

#include <thrust/memory.h>
