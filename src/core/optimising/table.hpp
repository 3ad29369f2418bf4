// What is searched: rows with a code in every view, and what each answer loses on them.
//
// A view is an order of the rows by one test: x <= t for the ranks of a column of numbers, "is it this
// category" for two codes. A column with missing values has two views, they first and they last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace treewright::optimising {

using Code = std::uint32_t;
/// Losses are whole numbers, so that sums are the same in every order.
using Loss = std::int64_t;

/// A number on the grids: its weight, weight × number, and weight × number² in units of the loss.
struct Number {
    std::int64_t weight = 0, sum = 0, square = 0;
};

struct Table {
    std::size_t n_rows = 0, n_views = 0, n_classes = 1, n_answers = 1;
    const Code* codes = nullptr;           // view by view
    const std::int32_t* labels = nullptr;  // classes of the rows; null for numbers
    const Loss* weights = nullptr;         // null: every row weighs 1
    std::span<const Loss> gains;           // class by class: what each answer saves; empty: the right one 1
    std::vector<Number> numbers;           // of the rows, instead of classes
    double square_scale = 1;               // units of the loss in a square of their sums' grid

    const Code* codes_of(std::size_t view) const { return codes + view * n_rows; }
    bool are_numbers() const { return labels == nullptr; }
    bool has_gains() const { return !gains.empty(); }
    Loss weight(std::size_t row) const { return weights ? weights[row] : 1; }
    /// What the best answer to a row saves, by its class or the place of its number.
    Loss most_gain(std::size_t target, Loss weight) const {
        if (are_numbers()) return numbers[target].square;
        if (!has_gains()) return weight;
        const auto own = gains.subspan(target * n_answers, n_answers);
        return weight * *std::max_element(own.begin(), own.end());
    }
};

/// Puts numbers on grids; returns the unit of the loss.
double place_numbers(Table& table, std::span<const double> numbers);

/// The tree in preorder; rows whose code is at most `code` go left. A leaf has view −1.
struct TreeNode {
    std::int32_t view = -1;
    Code code = 0;
};

struct FoundTree {
    Loss loss = 0;  // with the price of its leaves
    std::vector<TreeNode> nodes;
};

}  // namespace treewright::optimising
