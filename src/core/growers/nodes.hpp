// The tree while it grows: nodes in the order of their making, each a segment of the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "data/problem.hpp"
#include "growers/split.hpp"

namespace treewright {

struct Node {
    std::uint32_t begin = 0, end = 0;  // its rows: problem.rows[begin, end)
    std::int32_t left = -1;            // index of the left child; the right one follows it; -1 at a leaf
    std::int32_t column = -1;
    double gain = 0.0, low = 0.0, high = 0.0;
    bool missing_left = false;
    std::int64_t subset = -1;  // first byte of its bits in `subsets`

    bool is_leaf() const { return left < 0; }
    std::size_t size() const { return end - begin; }
};

/// A subtree to be grown: the rows of `node`, which stands at `depth`.
struct Job {
    std::int32_t node = 0;
    std::int64_t depth = 0;
    std::uint64_t key = 0;         // of the node's random stream
    std::int64_t max_splits = -1;  // -1: no limit
    Grids grids{};                 // that the node inherits
};

struct Nodes {
    std::vector<Node> nodes;
    std::vector<std::uint8_t> subsets;
    std::vector<Job> pending;  // leaves that are better grown from an excerpt of their rows

    std::int32_t add(std::uint32_t begin, std::uint32_t end) {
        nodes.push_back({begin, end});
        return static_cast<std::int32_t>(nodes.size() - 1);
    }
    /// Cuts `node` into two children of which the left one has `n_left` rows. Of two zeros it keeps the
    /// positive one, whichever row came first.
    void cut(std::int32_t node, const Problem& problem, const Split& split, std::uint32_t n_left,
             bool heavier_left) {
        const std::uint32_t begin = nodes[node].begin, middle = begin + n_left, end = nodes[node].end;
        const std::int32_t left = add(begin, middle);
        add(middle, end);
        Node& parent = nodes[node];
        parent.left = left;
        parent.column = split.column;
        parent.gain = split.gain;
        parent.low = split.low + 0.0;
        parent.high = split.high + 0.0;
        parent.missing_left = split.saw_missing ? split.missing_left : heavier_left;
        if (problem.columns[split.column].is_category()) {
            parent.subset = static_cast<std::int64_t>(subsets.size());
            add_subset(problem.columns[split.column].n_categories, split, heavier_left);
        }
    }

  private:
    /// Bits of the categories that go left; those absent from the node go where most of its rows go.
    void add_subset(std::int32_t n_categories, const Split& split, bool heavier_left) {
        const std::size_t start = subsets.size();
        subsets.resize(start + (static_cast<std::size_t>(n_categories) + 7) / 8, heavier_left ? 0xff : 0);
        const auto put = [&](std::int32_t code, bool value) {
            auto& byte = subsets[start + static_cast<std::size_t>(code) / 8];
            const auto bit = static_cast<std::uint8_t>(1U << (code % 8));
            byte = value ? byte | bit : byte & static_cast<std::uint8_t>(~bit);
        };
        for (const auto code : split.left_codes) put(code, true);
        for (const auto code : split.right_codes) put(code, false);
        for (std::int32_t code = n_categories; code % 8 != 0; ++code) put(code, false);  // padding stays zero
    }
};

/// Whether a node of this many rows at this depth may be split at all.
inline bool may_split(const Limits& limits, std::size_t n_rows, std::int64_t depth) {
    const auto n = static_cast<std::int64_t>(n_rows);
    return n >= 2 && (limits.max_depth < 0 || depth < limits.max_depth) && n >= limits.min_rows_split &&
           n / 2 >= limits.min_rows_leaf;
}

/// Searches nodes that are too large for lists; one for all threads.
class LargeSearcher {
  public:
    virtual ~LargeSearcher() = default;
    virtual std::size_t histogram_size() const = 0;
    /// Brings the rows of a node onto the grids that it inherits, or on its own, which `grids` then are;
    /// whether they were on others before, so that histograms of them no longer hold. The rows of the first
    /// node are all rows.
    virtual bool place(std::span<const Row> rows, Grids& grids) = 0;
    virtual void build(std::span<const Row> rows, Sum* histograms) = 0;
    /// The best split of a node from the histograms of all its columns; where columns are drawn, they are
    /// not needed: it makes those of the columns that it draws.
    virtual Split search(std::span<const Row> rows, const Sum* histograms, const Grids& grids,
                         std::uint64_t key) = 0;
};

}  // namespace treewright
