#pragma once

#include <hipcub/block/block_load.hpp>
