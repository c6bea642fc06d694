#pragma once

#include <hipcub/device/device_segmented_radix_sort.hpp>
