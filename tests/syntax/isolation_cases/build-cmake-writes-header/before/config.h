#pragma once
#define STEPS 4
