#pragma once

#include <hipcub/config.hpp>
