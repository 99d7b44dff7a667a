/// Defines numbers that carry their derivatives with respect to a pair's two scores (forward-mode
/// differentiation), so that a loss needs no separate code for its derivatives. Source: Griewank & Walther
/// 2008, "Evaluating Derivatives", chapter 3.
#pragma once

#include <algorithm>
#include <cmath>

namespace ringmaster {

struct Dual {
    double value = 0;
    double by_chosen = 0, by_rejected = 0;

    /// Returns f(*this), given f's value and slope at this number.
    Dual apply(double result, double slope) const { return {result, slope * by_chosen, slope * by_rejected}; }
};

inline Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.by_chosen + b.by_chosen, a.by_rejected + b.by_rejected};
}
inline Dual operator*(double a, const Dual& b) {
    return b.apply(a * b.value, a);
}
inline Dual operator-(const Dual& a, const Dual& b) {
    return a + -1.0 * b;
}
inline Dual operator+(const Dual& a, double b) {
    return a.apply(a.value + b, 1);
}
inline Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.by_chosen * b.value + a.value * b.by_chosen,
            a.by_rejected * b.value + a.value * b.by_rejected};
}

inline double sigmoid(double x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
inline Dual sigmoid(const Dual& x) {
    const double s = sigmoid(x.value);
    return x.apply(s, s * (1 - s));
}
/// Returns log(sigmoid(x)) without overflow.
inline Dual log_sigmoid(const Dual& x) {
    const double value = std::min(x.value, 0.0) - std::log1p(std::exp(-std::abs(x.value)));
    return x.apply(value, sigmoid(-x.value));
}
inline Dual relu(const Dual& x) {
    return x.value > 0 ? x : Dual{};
}
/// Returns log(1 − exp(x)) for x < 0 (Mächler 2012, "Accurately computing log(1 − exp(−|a|))").
inline Dual log1mexp(const Dual& x) {
    const double value =
        x.value > -0.693147180559945 ? std::log(-std::expm1(x.value)) : std::log1p(-std::exp(x.value));
    return x.apply(value, std::exp(x.value) / std::expm1(x.value));
}

}  // namespace ringmaster
