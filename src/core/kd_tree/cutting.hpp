// Where a node of a k-d tree is cut: the widest column or the next one, at its median.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kd_tree/kd_tree.hpp"

namespace treewright {

/// Some points, row by row, and which they are.
template <class T>
struct Rows {
    const T* values;
    const std::uint32_t* index;
    std::size_t n;
};

/// x[column] < at goes left: `n_left` of the points.
template <class T>
struct Cut {
    std::size_t column;
    T at;
    std::size_t n_left;
};

/// Finds cuts. `Fixed` is the number of columns if it is known when compiling, else 0.
template <class T, std::size_t Fixed>
class Cutter {
  public:
    Cutter(std::size_t n_columns, KDRule rule)
        : n_columns_(n_columns), rule_(rule), lowest_(n_columns), highest_(n_columns) {}

    std::size_t n_columns() const { return Fixed ? Fixed : n_columns_; }

    /// The box around the points: the first thing to do with a node.
    void look(const Rows<T>& rows) {
        const std::size_t d = n_columns();
        std::copy_n(rows.values, d, lowest_.data());
        std::copy_n(rows.values, d, highest_.data());
        widen(rows.values, rows.n, lowest_.data(), highest_.data());
    }
    void set_box(const T* lowest, const T* highest) {
        std::copy_n(lowest, n_columns(), lowest_.data());
        std::copy_n(highest, n_columns(), highest_.data());
    }
    T highest(std::size_t column) const { return highest_[column]; }

    /// Makes a box large enough for more points.
    void widen(const T* values, std::size_t n, T* lowest, T* highest) const {
        if constexpr (Fixed > 0) {
            constexpr std::size_t rows = 32 / Fixed / 4 * 4;
            const std::size_t even = n / rows * rows;
            widen_together<rows * Fixed>(values, even * Fixed, lowest, highest);
            widen_together<Fixed>(values + even * Fixed, (n - even) * Fixed, lowest, highest);
        } else {
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < n_columns_; ++c) {
                    const T x = values[i * n_columns_ + c];
                    lowest[c] = x < lowest[c] ? x : lowest[c];
                    highest[c] = x > highest[c] ? x : highest[c];
                }
        }
    }

    /// The column to cut, or `no_column` where all points are equal.
    std::size_t choose(std::size_t depth) const {
        const std::size_t d = n_columns();
        if (rule_ == KDRule::cycle) {
            for (std::size_t i = 0; i < d; ++i) {
                const std::size_t c = (depth + i) % d;
                if (lowest_[c] < highest_[c]) return c;
            }
            return no_column;
        }
        std::size_t best = no_column;
        T widest = 0;
        for (std::size_t c = 0; c < d; ++c) {
            const T width = highest_[c] - lowest_[c];
            if (width > widest || (best == no_column && lowest_[c] < highest_[c])) {
                widest = width;
                best = c;
            }
        }
        return best;
    }

    /// At the (upper) median; where that is the lowest value, at the next one, so that no side is empty.
    Cut<T> cut(const Rows<T>& rows, std::size_t column) {
        const T* values = rows.values + column;
        const T median = value_at(values, rows.n, rows.n / 2);
        if (lowest_[column] < median) return {column, median, n_below_};
        const std::size_t d = n_columns();
        T next = highest_[column];
        std::size_t n_equal = 0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            const T x = values[i * d];
            n_equal += x == median;
            if (x > median && x < next) next = x;
        }
        return {column, next, n_equal};
    }

    /// The value at a rank of a column, counted from 0.
    T value_at(const T* values, std::size_t n, std::size_t rank) {
        return n >= worth_a_sample && find_in_band(values, n, rank) ? found_
                                                                    : find_among_all(values, n, rank);
    }

  private:
    static constexpr std::size_t worth_a_sample = 1024;

    /// Several rows at a time, in registers.
    template <std::size_t Together>
    static void widen_together(const T* values, std::size_t n_values, T* lowest, T* highest) {
        T low[Together], high[Together];
        for (std::size_t j = 0; j < Together; ++j) low[j] = lowest[j % Fixed], high[j] = highest[j % Fixed];
        for (std::size_t i = 0; i < n_values; i += Together)
            for (std::size_t j = 0; j < Together; ++j) {
                const T x = values[i + j];
                low[j] = x < low[j] ? x : low[j];
                high[j] = x > high[j] ? x : high[j];
            }
        for (std::size_t j = 0; j < Together; ++j) {
            lowest[j % Fixed] = std::min(lowest[j % Fixed], low[j]);
            highest[j % Fixed] = std::max(highest[j % Fixed], high[j]);
        }
    }

    T find_among_all(const T* values, std::size_t n, std::size_t rank) {
        const std::size_t d = n_columns();
        make_room(n);
        for (std::size_t i = 0; i < n; ++i) keys_[i] = values[i * d];
        return select(n, rank, 0);
    }

    /// Ranks of a sample enclose the rank wanted almost always: only the values between are put in order.
    bool find_in_band(const T* values, std::size_t n, std::size_t rank) {
        const std::size_t d = n_columns();
        const std::size_t n_sample = std::min<std::size_t>(4096, n / 16), step = n / n_sample;
        make_room(n);
        const auto place = static_cast<double>(rank) / static_cast<double>(n) * static_cast<double>(n_sample);
        const double margin = 1.5 * std::sqrt(static_cast<double>(n_sample)) + 1.0;
        const auto last = static_cast<double>(n_sample - 1);
        T ends[2];
        for (const bool upper : {false, true}) {
            for (std::size_t i = 0; i < n_sample; ++i) keys_[i] = values[(i * step + step / 2) * d];
            const double at = std::clamp(upper ? place + margin : place - margin, 0.0, last);
            ends[upper] = select(n_sample, static_cast<std::size_t>(at), 0);
        }
        const T low = ends[0], high = ends[1];
        std::size_t n_band = 0, n_below = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const T x = values[i * d];
            keys_[n_band] = x;  // stays if it is in the band
            n_below += x < low;
            n_band += (x >= low) & (x <= high);
        }
        if (rank < n_below || rank >= n_below + n_band) return false;
        found_ = select(n_band, rank - n_below, n_below);
        return true;
    }

    /// The value at a rank among the first n keys; counts what is below it, on top of what is known to be.
    /// Quickselect without a branch that depends on the keys: what is less stays, what is greater goes over.
    T select(std::size_t n, std::size_t rank, std::size_t n_below) {
        T *keys = keys_.data(), *others = others_.data();
        for (int round = 0; n > 12 && round < 40; ++round) {  // keys laid out to fool it are sorted
            const T pivot = middle_of_nine(keys, n);
            std::size_t n_less = 0, n_greater = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const T x = keys[i];
                keys[n_less] = x;
                others[n_greater] = x;
                n_less += x < pivot;
                n_greater += x > pivot;
            }
            if (rank < n_less) {
                n = n_less;
            } else if (rank < n - n_greater) {
                n_below_ = n_below + n_less;
                return pivot;
            } else {
                n_below += n - n_greater;
                rank -= n - n_greater;
                n = n_greater;
                std::swap(keys, others);
            }
        }
        std::sort(keys, keys + n);
        n_below_ = n_below + (std::lower_bound(keys, keys + n, keys[rank]) - keys);
        return keys[rank];
    }

    static T middle_of_three(T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }
    static T middle_of_nine(const T* keys, std::size_t n) {
        const std::size_t s = (n - 1) / 8;
        return middle_of_three(middle_of_three(keys[0], keys[3 * s], keys[6 * s]),
                               middle_of_three(keys[s], keys[4 * s], keys[7 * s]),
                               middle_of_three(keys[2 * s], keys[5 * s], keys[8 * s]));
    }

    void make_room(std::size_t n) {
        if (keys_.size() > n) return;  // one more than there are: the last is written before it is refused
        keys_.resize(n + 1);
        others_.resize(n + 1);
    }

    std::size_t n_columns_;
    KDRule rule_;
    std::vector<T> lowest_, highest_, keys_, others_;
    T found_{};
    std::size_t n_below_ = 0;
};

}  // namespace treewright
