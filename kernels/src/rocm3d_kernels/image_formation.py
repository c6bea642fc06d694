"""Constants of Gaussian splatting that the implementations share, so that they agree on what is seen."""

from __future__ import annotations

# A contribution below this changes no 8-bit image and is not counted.
SMALLEST_ALPHA = 1.0 / 255.0
# No Gaussian hides everything behind it by itself, so that gradients flow.
LARGEST_ALPHA = 0.999
# A pixel is finished when less light than this comes through.
SMALLEST_TRANSMITTANCE = 1e-4
# sqrt(2 ln 255): where a fully opaque Gaussian falls below SMALLEST_ALPHA, in standard deviations.
EXTENT = 3.33
# The Jacobian is taken at most this part of the half image beyond the edge.
CLAMP = 0.3
SMALLEST_DETERMINANT = 1e-10
