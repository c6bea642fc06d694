#pragma once

#include <thrust/equal.h>
