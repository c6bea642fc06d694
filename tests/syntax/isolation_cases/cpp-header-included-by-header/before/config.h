#pragma once
#include "deep/flags.h"
