#pragma once

#include <thrust/merge.h>
