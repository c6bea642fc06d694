double stable_inverse(double x) {
  double eps = 1e-6d;
  return x < eps ? 0.0 : 1.0 / x;
}
