"""Constants of Gaussian splatting that all implementations share, so that they agree on visibility."""

from __future__ import annotations

# A contribution below this changes no 8-bit image and is skipped.
SMALLEST_ALPHA = 1.0 / 255.0
# Below 1, so that gradients reach the Gaussians behind an opaque one.
LARGEST_ALPHA = 0.999
# A pixel is finished before its transmittance T falls to this.
SMALLEST_TRANSMITTANCE = 1e-4
# sqrt(2 ln 255): distance in standard deviations at which an opaque Gaussian falls below SMALLEST_ALPHA.
EXTENT = 3.33
# The Jacobian is evaluated at most this fraction of half the image beyond its edge.
CLAMP = 0.3
SMALLEST_DETERMINANT = 1e-10
