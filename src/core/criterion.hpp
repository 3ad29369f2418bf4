// What a criterion is, and the table in which every file of criteria/ enlists its own.
//
// Risk is weight × impurity. Every criterion obeys, for statistics a and b and a factor c ≥ 0:
//     risk ≥ 0,   risk(pure) = 0,   risk(c·a) = c·risk(a),   risk(a + b) ≥ risk(a) + risk(b).
// The last law makes every gain ≥ 0 and lets the histograms bound what a bin can hide.
#pragma once

#include <cmath>
#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace treewright {

using Weights = std::span<const double>;

/// The risk is a function of the total weight and a sum of one term per class: it can be kept up to date
/// in O(1) while rows move from right to left.
template <class C>
concept Separable = requires(double x) {
    { C::term(x) } -> std::same_as<double>;
    { C::risk(x, x) } -> std::same_as<double>;
};

/// A criterion of classes: separable, or any function of the weights per class.
template <class C>
concept ClassCriterion = Separable<C> || requires(Weights w) {
    { C::risk(w) } -> std::same_as<double>;
};

/// A criterion of numbers that needs only the weight and the sum of each side.
template <class C>
concept SumCriterion = requires(double x) {
    { C::gain(x, x, x, x) } -> std::same_as<double>;
};

template <ClassCriterion C>
double risk_of(Weights weights) {
    if constexpr (Separable<C>) {
        double total = 0, terms = 0;
        for (const double w : weights) {
            total += w;
            terms += C::term(w);
        }
        return total > 0 ? std::max(0.0, C::risk(total, terms)) : 0.0;
    } else {
        return C::risk(weights);
    }
}

/// Gain of sending `left` one way and `right` the other. A criterion may offer its own form where the
/// difference of risks would lose digits.
template <ClassCriterion C>
double gain_of(Weights left, Weights right, double risk_parent) {
    if constexpr (requires { C::gain(left, right); })
        return C::gain(left, right);
    else
        return risk_parent - risk_of<C>(left) - risk_of<C>(right);
}

/// Whether columns compete by gain ratio instead of gain.
template <class C>
constexpr bool by_ratio = requires { requires C::by_ratio; };

class Searcher;
struct Problem;

struct Criterion {
    std::string_view name;
    double (*risk)(Weights) = nullptr;         // of classes
    double (*loss)(double, double) = nullptr;  // of a number and the value that stands for it
    bool by_median = false;                    // that value is the median, not the mean
    std::unique_ptr<Searcher> (*make_searcher)(const Problem&) = nullptr;

    bool of_classes() const { return risk != nullptr; }
};

/// All criteria, in alphabetical order.
std::vector<Criterion>& criteria();
const Criterion& criterion_named(std::string_view name);

}  // namespace treewright
