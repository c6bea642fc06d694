#pragma once
#include_next <config.h>
