// What a criterion is, and the table in which every file of criteria/ enlists its own.
//
// Risk is weight × impurity. Every criterion obeys, for statistics a and b and a factor c ≥ 0:
//     risk ≥ 0,   risk(pure) = 0,   risk(c·a) = c·risk(a),   risk(a + b) ≥ risk(a) + risk(b).
// The last law makes every gain ≥ 0 and lets the histograms bound what a bin can hide.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace treewright {

using Weights = std::span<const double>;

/// The risk is a function of the total weight and a sum of one term per class: it can be kept up to date
/// in O(1) while rows move from right to left. Used for counts, which are small enough to lose nothing. The
/// term of 0 is 0, and the terms bend one way: those of parts of n rows add up to no more than term(n) or
/// n·term(1).
template <class C>
concept Separable = requires(double x) {
    { C::term(x) } -> std::same_as<double>;
    { C::risk(x, x) } -> std::same_as<double>;
};

/// The risk of any weights per class, to full precision also where one class outweighs the others by far.
template <class C>
concept ClassCriterion = requires(Weights w) {
    { C::risk(w) } -> std::same_as<double>;
};

/// A criterion of numbers that needs only the weight and the sum of each side, in any units; measured(gain,
/// unit of the sums, unit of the weights) is a gain in the units of the data.
template <class C>
concept SumCriterion = requires(double x) {
    { C::gain(x, x, x, x) } -> std::same_as<double>;
    { C::measured(x, x, x) } -> std::same_as<double>;
};

/// The weights with the heaviest set apart: differences from the total are taken without loss.
struct Heaviest {
    double weight = 0;  // of the heaviest class
    double rest = 0;    // of all others together
    std::size_t index = 0;

    explicit Heaviest(Weights weights) {
        for (std::size_t k = 0; k < weights.size(); ++k)
            if (weights[k] > weight) {
                weight = weights[k];
                index = k;
            }
        for (std::size_t k = 0; k < weights.size(); ++k) rest += k == index ? 0.0 : weights[k];
    }
    double total() const { return weight + rest; }
};

/// Gain of sending `left` one way and `right` the other. A criterion may offer its own form where the
/// difference of risks would lose digits.
template <ClassCriterion C>
double gain_of(Weights left, Weights right, double risk_parent) {
    if constexpr (requires { C::gain(left, right); })
        return C::gain(left, right);
    else
        return risk_parent - C::risk(left) - C::risk(right);
}

class SplitSearch;
struct Agreement;
struct Limits;
struct Problem;
template <class Id>
class ListScanner;

/// A scanner for ids of some width. Where it does not only go down, from nodes to parts of them, it may enter
/// rows again that it has left.
template <class Id>
using MakeScanner = std::unique_ptr<ListScanner<Id>> (*)(const Problem&, bool goes_down);

struct Criterion {
    std::string_view name;
    double (*risk)(Weights) = nullptr;         // of classes
    double (*loss)(double, double) = nullptr;  // of a number and the value that stands for it
    bool by_median = false;                    // that value is the median, not the mean
    bool is_centred = false;                   // the loss depends on the difference of the two alone
    bool by_ratio = false;                     // columns compete by gain ratio
    double (*sum_gain)(double, double, double, double) = nullptr;  // of weight and sum of both sides
    MakeScanner<std::uint16_t> make_short_scanner = nullptr;
    MakeScanner<std::uint32_t> make_long_scanner = nullptr;
    /// Decides splits by counts, for so many threads; by sums of two words where one does not hold them. Null
    /// where the criterion, or this problem, has no
    /// histograms.
    std::unique_ptr<SplitSearch> (*make_split_search)(const Agreement&, const Limits&, bool by_ratio,
                                                      bool in_two_words, std::size_t n_threads) = nullptr;

    bool of_classes() const { return risk != nullptr; }
};

/// All criteria that enlisted themselves, in no particular order.
std::vector<Criterion>& criteria();
const Criterion& criterion_named(std::string_view name);

/// The last line of every file in criteria/ makes one of these.
struct Enlist {
    explicit Enlist(const Criterion& criterion) { criteria().push_back(criterion); }
};

}  // namespace treewright
