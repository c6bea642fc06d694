#pragma once

#include <hipcub/block/block_radix_sort.hpp>
