// What the sums of a statistic are: those of a cell of a histogram, of a place or of a value.
//
// Where sums do not fit one word, each that has a grid is two: sum = upper · 2^24 + lower. Both are added and
// subtracted like any others, so that whoever adds up statistics, or sends them, need not know. Rows are
// added to the lower one; before it overflows, and in the end, what is above its 24 bits is carried to the
// upper one. So sums of 2^38 statistics fit.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "data/problem.hpp"
#include "support/portable.hpp"

namespace treewright {

constexpr int lower_bits = 24;
template <class S>
constexpr bool in_two_words = !std::same_as<S, Sum>;

/// A sum of one word, or of two as one number.
template <class S>
S whole_sum(const Sum* statistic, std::size_t lower, [[maybe_unused]] std::size_t upper) {
    if constexpr (!in_two_words<S>)
        return statistic[lower];
    else
        return S(statistic[upper]) * S(Sum{1} << lower_bits) + S(statistic[lower]);
}
inline void carry(Sum& lower, Sum& upper) {
    upper += lower >> lower_bits;
    lower &= (Sum{1} << lower_bits) - 1;
}

/// The weight of each class[, rows][, the upper words of the weights].
struct ClassLayout {
    std::size_t n_classes;
    bool is_weighted, in_two_words = false;

    std::size_t n_sums() const { return n_classes + (is_weighted ? 1 : 0); }
    std::size_t width() const { return n_sums() + (in_two_words ? n_classes : 0); }
    std::int64_t rows_of(const Sum* statistic) const {
        return is_weighted ? statistic[n_classes] : weight_of_all<Sum>(statistic);
    }
    /// Sums of two words are those of weighted rows.
    template <class S>
    S weight_of(const Sum* statistic, std::size_t k) const {
        return whole_sum<S>(statistic, k, n_classes + 1 + k);
    }
    template <class S>
    S weight_of_all(const Sum* statistic) const {
        S sum = 0;
        for (std::size_t k = 0; k < n_classes; ++k) sum += weight_of<S>(statistic, k);
        return sum;
    }
    void carry(Sum* statistic) const {
        for (std::size_t k = 0; k < n_classes; ++k)
            treewright::carry(statistic[k], statistic[n_classes + 1 + k]);
    }
};

/// One number: the weight, the sum, an upper bound of the squares[, rows][, the upper words of the sum and
/// the squares[, and of the weight]].
struct SquareLayout {
    bool is_weighted, in_two_words = false;

    std::size_t n_sums() const { return is_weighted ? 4 : 3; }
    std::size_t width() const { return n_sums() + (!in_two_words ? 0 : is_weighted ? 3 : 2); }
    std::int64_t rows_of(const Sum* statistic) const { return is_weighted ? statistic[3] : statistic[0]; }
    /// Without weights it is a number of rows.
    template <class S>
    S weight_of(const Sum* statistic) const {
        return is_weighted ? whole_sum<S>(statistic, 0, n_sums() + 2) : S(statistic[0]);
    }
    template <class S>
    S sum_of(const Sum* statistic) const {
        return whole_sum<S>(statistic, 1, n_sums());
    }
    template <class S>
    S squares_of(const Sum* statistic) const {
        return whole_sum<S>(statistic, 2, n_sums() + 1);
    }
    void carry(Sum* statistic) const {
        Sum* const upper = statistic + n_sums();
        treewright::carry(statistic[1], upper[0]);
        treewright::carry(statistic[2], upper[1]);
        if (is_weighted) treewright::carry(statistic[0], upper[2]);
    }
};

}  // namespace treewright
