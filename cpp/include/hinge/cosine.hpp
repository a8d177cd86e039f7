#pragma once
// The cosine of an angle counted in turns, for a register of numbers at once: a polynomial of our own, with the same bits everywhere.

namespace hinge::cosine {

/// sin(2 pi z) = sum of kSine[k] z^(2k+1). Up to |z| = 1/4, seven terms are exact to the last place of a float, eleven to a double's.
inline constexpr double kSine[] = {6.283185307179586232,     -41.341702240399762047,  81.605249276075056741,
                                   -76.705859753061389483,   42.058693944897655115,   -15.09464257682298971,
                                   3.81995258484828204,      -0.71812230177850056023, 0.1042291622081398389,
                                   -0.012031585942120627195, 0.0011309237482517962847};

/// t <- scale cos(2 pi t). `Vector` is a register of T; it is inlined into functions that exist once for each processor.
template <class T, class Vector>
[[gnu::always_inline]] inline void apply(Vector& t, T scale) {
  // Adding and subtracting 1.5 times the power of 2 from which on there are no fractions rounds to whole turns. Beyond it there is
  // no angle left in a number: what remains is cut to half a turn.
  constexpr T kWhole = sizeof(T) == 4 ? T(1.5 * 8388608.0) : T(1.5 * 4503599627370496.0);
  constexpr int kTerms = sizeof(T) == 4 ? 7 : 11;
  Vector r = t - ((t + kWhole) - kWhole);
  r = r < T(0) ? -r : r;
  r = r < T(0.5) ? r : Vector{} + T(0.5);
  const Vector z = T(0.25) - r;  // cos(2 pi r) = sin(2 pi z)
  const Vector q = z * z;
  Vector sine = Vector{} + static_cast<T>(kSine[kTerms - 1]);
  for (int k = kTerms - 2; k >= 0; --k) sine = sine * q + static_cast<T>(kSine[k]);
  t = scale * (sine * z);
}

}  // namespace hinge::cosine
