#pragma once

#include <hipcub/iterator/iterators.hpp>
