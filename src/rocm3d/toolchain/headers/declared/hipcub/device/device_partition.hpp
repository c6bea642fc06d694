#pragma once

#include <hipcub/device/device_select.hpp>
