#pragma once

#include <thrust/reverse.h>
