#pragma once

#include <thrust/sequence.h>
