#pragma once

#define hipsparseVersionMajor 4
#define hipsparseVersionMinor 0
#define hipsparseVersionPatch 0
