// What a box reaches of a forest, and how its cells are answered.
#include "born_again/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace treewright::born_again {

namespace {

constexpr std::int32_t mixed = -1;
constexpr double largest_whole = 9007199254740992.0;  // 2^53

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

void set_bit(std::vector<std::uint64_t>& words, std::size_t bit) {
    words[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

/// Walks what a box reaches of one tree.
struct Walk {
    const Forest& forest;
    View& view;

    /// The node at which rows of the box part, or the leaf that they all reach.
    std::int32_t parting(std::int32_t at) const {
        const Box& box = view.inside;
        while (true) {
            const Node& node = forest.nodes[at];
            if (node.column < 0) return at;
            const std::size_t column = node.column;
            if (box.high[column] <= node.cut)
                at = node.left;
            else if (box.low[column] > node.cut)
                at = node.right;
            else
                return at;
        }
    }

    /// The leaf whose votes all rows below a node get, or `mixed`. Leaves are listed and cuts are marked
    /// where their sides differ. What lies below a cut sees the box on its side of it.
    std::int32_t gather(std::int32_t from) {
        Box& inside = view.inside;
        const std::int32_t at = parting(from);
        const Node& node = forest.nodes[at];
        if (node.column < 0) {
            view.leaves.push_back(node.left);
            return forest.alike[node.left];
        }
        const std::size_t column = node.column;
        const std::size_t before = view.leaves.size();
        const std::int32_t high = inside.high[column], low = inside.low[column];
        inside.high[column] = node.cut;
        const std::int32_t left = gather(node.left);
        inside.high[column] = high;
        inside.low[column] = node.cut + 1;
        const std::int32_t right = gather(node.right);
        inside.low[column] = low;
        if (left != mixed && left == right) {  // the cut tells nothing: one leaf stands for all
            view.leaves.resize(before + 1);
            return left;
        }
        set_bit(view.cuts, forest.first_cut[column] + node.cut);
        return mixed;
    }
};

}  // namespace

void Forest::find_alike() {
    alike.resize(n_leaves);
    std::iota(alike.begin(), alike.end(), 0);
    std::vector<std::int32_t> order;
    for (std::size_t tree = 0; tree < roots.size(); ++tree) {
        order.clear();
        const auto last = tree + 1 < roots.size() ? static_cast<std::size_t>(roots[tree + 1]) : nodes.size();
        for (std::size_t i = roots[tree]; i < last; ++i)
            if (nodes[i].column < 0) order.push_back(nodes[i].left);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return std::ranges::lexicographical_compare(votes_of(a), votes_of(b));
        });
        for (std::size_t i = 1; i < order.size(); ++i)
            if (std::ranges::equal(votes_of(order[i]), votes_of(order[i - 1])))
                alike[order[i]] = alike[order[i - 1]];
    }
}

void Forest::prepare() {
    first_cut.assign(1, 0);
    for (const std::int32_t n : n_cuts) first_cut.push_back(first_cut.back() + n);
    find_alike();
    double most = 0;
    is_whole = true;
    for (const double vote : votes) {
        most = std::max(most, std::abs(vote));
        is_whole = is_whole && vote == std::floor(vote);
    }
    const double sum = most * static_cast<double>(roots.size());
    is_whole = is_whole && sum < largest_whole / 4;
    // Two sums, each of so many roundings, and those of the bounds themselves.
    slack = is_whole
                ? 0.0
                : 8 * sum * static_cast<double>(roots.size() + 1) * std::numeric_limits<double>::epsilon();
}

Box whole_box(const Forest& forest) {
    return {std::vector<std::int32_t>(forest.n_columns(), 0), forest.n_cuts};
}

std::size_t key_words(const Forest& forest) {
    return words_for(forest.n_leaves) + (forest.is_whole ? forest.n_classes : 0);
}

void look(const Forest& forest, const Box& box, View& view) {
    const std::size_t bits = words_for(forest.n_leaves);
    view.key.assign(key_words(forest), 0);
    view.cuts.assign(words_for(forest.first_cut.back()), 0);
    view.top.resize(forest.roots.size());
    view.leaves.clear();
    view.first_leaf.assign(1, 0);
    view.inside = box;
    Walk walk{forest, view};
    auto& settled = view.settled;
    settled.assign(forest.is_whole ? forest.n_classes : 0, 0.0);
    for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) {
        view.top[tree] = walk.parting(forest.roots[tree]);
        const std::int32_t one = walk.gather(view.top[tree]);
        const std::size_t begin = view.first_leaf.back();
        view.first_leaf.push_back(static_cast<std::int32_t>(view.leaves.size()));
        if (one != mixed && forest.is_whole) {  // votes that are settled are only added up
            const auto votes = forest.votes_of(one);
            for (std::size_t k = 0; k < settled.size(); ++k) settled[k] += votes[k];
            continue;
        }
        if (one != mixed) view.leaves[begin] = one;
        for (std::size_t i = begin; i < view.leaves.size(); ++i) set_bit(view.key, view.leaves[i]);
    }
    if (!settled.empty()) {  // only how far they are apart counts
        const double least = *std::min_element(settled.begin(), settled.end());
        for (std::size_t k = 0; k < settled.size(); ++k)
            view.key[bits + k] = static_cast<std::uint64_t>(settled[k] - least);
    }
}

void cuts_of(const Forest& forest, const View& view, std::size_t column, std::vector<std::int32_t>& cuts) {
    cuts.clear();
    const std::size_t begin = forest.first_cut[column];
    const std::size_t end = forest.first_cut[column + 1];
    for (std::size_t at = begin; at < end;) {
        const std::uint64_t word = view.cuts[at / 64] >> (at % 64);
        if (word == 0) {
            at = (at / 64 + 1) * 64;
            continue;
        }
        at += std::countr_zero(word);
        if (at < end) cuts.push_back(static_cast<std::int32_t>(at - begin));
        ++at;
    }
}

std::int32_t answer(const Forest& forest, std::span<const std::int32_t> top,
                    std::span<const std::int32_t> cell, std::vector<double>& sums) {
    sums.assign(forest.n_classes, 0.0);
    for (const std::int32_t root : top) {
        const Node* node = &forest.nodes[root];
        while (node->column >= 0) {
            const bool is_left = cell[node->column] <= node->cut;
            node = &forest.nodes[is_left ? node->left : node->right];
        }
        const auto votes = forest.votes_of(node->left);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += votes[k];
    }
    return static_cast<std::int32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

bool surely_wins(const Forest& forest, const View& view, std::int32_t winner) {
    const std::size_t own = winner;
    for (std::size_t rival = 0; rival < forest.n_classes; ++rival) {
        if (rival == own) continue;
        double margin = 0;
        for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) {
            double least = std::numeric_limits<double>::infinity();
            for (auto i = view.first_leaf[tree]; i < view.first_leaf[tree + 1]; ++i) {
                const auto votes = forest.votes_of(view.leaves[i]);
                least = std::min(least, votes[own] - votes[rival]);
            }
            margin += least;
        }
        const bool wins_ties = own < rival && forest.is_whole;
        if (!(margin > forest.slack || (wins_ties && margin >= 0))) return false;
    }
    return true;
}

}  // namespace treewright::born_again
