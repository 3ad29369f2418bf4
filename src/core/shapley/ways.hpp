// The ways from the root to the leaves as attributions need them: columns that count once, patterns of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "shapley/patterns.hpp"
#include "shapley/shapley.hpp"
#include "tree/shape.hpp"

namespace treewright {

/// The tree as the walks need it; what belongs to a turn is kept at the child to which it leads.
struct Ways {
    std::vector<std::int32_t> parent, depth;
    std::vector<std::int32_t> slot;  // of a branch: its column among those that the tree tests
    std::vector<std::int32_t>
        before;  // of a branch: the last turn by the same column above it, or 0, the root
    std::vector<std::int32_t> branches;  // the nodes that test something
    std::vector<std::int32_t> place;     // of a branch or a leaf: how many come before it
    std::vector<std::int32_t> columns;   // of each slot
    std::size_t most_columns = 0;        // on the way to a leaf
    std::size_t deepest = 0;

    explicit Ways(const TreeView& tree)
        : parent(tree.size(), -1),
          depth(parent.size(), 0),
          slot(parent.size(), -1),
          before(parent.size(), 0),
          place(parent.size(), 0) {
        const std::int32_t n = n_nodes(tree.end);
        std::int32_t n_leaves = 0;
        std::vector<std::int32_t> slot_of, last;  // by column; by slot: the turn that is in force
        struct Step {
            std::int32_t end, slot, was;
        };
        std::vector<Step> way;
        std::size_t n_columns = 0;
        for (std::int32_t node = 0; node < n; ++node) {
            for (; !way.empty() && way.back().end <= node; way.pop_back()) {
                last[way.back().slot] = way.back().was;
                n_columns -= way.back().was == 0;
            }
            if (node > 0) {
                const std::int32_t by = slot[parent[node]];
                depth[node] = depth[parent[node]] + 1;
                way.push_back({tree.end[node], by, last[by]});
                n_columns += last[by] == 0;
                last[by] = node;
                most_columns = std::max(most_columns, n_columns);
                deepest = std::max<std::size_t>(deepest, depth[node]);
            }
            if (is_leaf(tree.end, node)) {
                place[node] = n_leaves++;
                continue;
            }
            place[node] = static_cast<std::int32_t>(branches.size());
            branches.push_back(node);
            const std::size_t column = tree.feature[node];
            if (column >= slot_of.size()) slot_of.resize(column + 1, -1);
            if (slot_of[column] < 0) {
                slot_of[column] = static_cast<std::int32_t>(columns.size());
                columns.push_back(tree.feature[node]);
                last.push_back(0);
            }
            slot[node] = slot_of[column];
            before[node] = last[slot[node]];
            parent[node + 1] = parent[tree.end[node + 1]] = node;
        }
    }
};

/// The numbers of the answers that need work of their own, and how the others follow from them.
struct Wanted {
    std::vector<std::size_t> place;  // of each in a line of answers
    std::vector<double> values;      // of the leaves, one after the other
    std::vector<std::size_t>
        block_end;  // of each in `place`: where the block ends whose last number it helps to tell

    explicit Wanted(const LeafAnswers& answers) {
        std::size_t begin = 0;
        for (const std::int32_t block : answers.blocks) {
            const std::size_t end = begin + block;
            for (std::size_t i = begin; i + 1 < end; ++i) {
                place.push_back(i);
                block_end.push_back(end - 1);
            }
            begin = end;
        }
        if (answers.blocks.empty()) {
            place.resize(answers.width);
            std::iota(place.begin(), place.end(), std::size_t{0});
        }
        const std::size_t n_leaves = answers.values.size() / answers.width;
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf)
            for (const std::size_t i : place) values.push_back(answers.values[leaf * answers.width + i]);
    }
    std::size_t size() const { return place.size(); }

    /// One column's line of all numbers, from its line of those wanted.
    void spread(const double* found, double* line) const {
        for (std::size_t i = 0; i < size(); ++i) line[place[i]] = found[i];
        for (std::size_t i = 0; i < block_end.size(); ++i) line[block_end[i]] -= found[i];
    }
};

/// How many rows make a portion whose patterns, and `more` bytes for each row, take 64 MB.
inline std::size_t rows_in_portion(const Ways& ways, std::size_t more) {
    constexpr std::size_t most_bytes = std::size_t{1} << 26;
    return std::clamp<std::size_t>(most_bytes / (Patterns::bytes_per_row(ways.branches.size()) + more), 64,
                                   std::size_t{1} << 20);
}

/// Sends the rows through `work` in portions: it gets their patterns and a line of slots × wanted numbers,
/// all 0, for each pattern; then the lines are handed to the rows.
template <class Work>
void in_portions(const TreeView& tree, const Ways& ways, const Wanted& wanted, std::size_t width,
                 const std::vector<Column>& columns, std::size_t n_rows, double* out, Pool& pool,
                 Interrupt& interrupt, Work&& work) {
    const std::size_t length = ways.columns.size() * wanted.size(), line = columns.size() * width;
    const std::size_t portion = rows_in_portion(ways, 8 * length);
    for (std::size_t first = 0; first < n_rows; first += portion) {
        const std::size_t n = std::min(portion, n_rows - first);
        const Patterns patterns(tree, ways.branches, columns, first, n, pool, interrupt);
        std::vector<double> found(patterns.size() * length);
        work(patterns, found.data(), length);
        constexpr std::size_t block = 1024;
        pool.run((n + block - 1) / block, [&](std::size_t task, std::size_t) {
            interrupt.check();
            for (std::size_t row = task * block; row < std::min(n, (task + 1) * block); ++row) {
                const double* own = found.data() + patterns.of_row()[row] * length;
                double* to = out + (first + row) * line;
                for (std::size_t slot = 0; slot < ways.columns.size(); ++slot)
                    wanted.spread(own + slot * wanted.size(), to + ways.columns[slot] * width);
            }
        });
    }
}

}  // namespace treewright
