#pragma once

#include <rocprim/functional.hpp>
#include <rocprim/types/tuple.hpp>
#include <rocprim/warp/warp_reduce.hpp>
