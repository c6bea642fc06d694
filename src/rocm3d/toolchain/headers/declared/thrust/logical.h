#pragma once

#include <thrust/find.h>
