#pragma once

#include <thrust/gather.h>
