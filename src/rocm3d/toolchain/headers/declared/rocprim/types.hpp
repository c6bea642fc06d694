#pragma once

#include <rocprim/types/tuple.hpp>
