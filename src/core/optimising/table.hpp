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

struct Table {
    std::size_t n_rows = 0, n_views = 0, n_classes = 0, n_answers = 0;
    const Code* codes = nullptr;           // view by view
    const std::int32_t* labels = nullptr;  // classes of the rows
    const Loss* weights = nullptr;         // null: every row weighs 1
    std::span<const Loss> gains;           // class by class: what each answer saves; empty: the right one 1

    const Code* codes_of(std::size_t view) const { return codes + view * n_rows; }
    bool has_gains() const { return !gains.empty(); }
    Loss weight(std::size_t row) const { return weights ? weights[row] : 1; }
    /// What the best answer to a row of a class saves.
    Loss most_gain(std::size_t label, Loss weight) const {
        if (!has_gains()) return weight;
        const auto own = gains.subspan(label * n_answers, n_answers);
        return weight * *std::max_element(own.begin(), own.end());
    }
};

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
