// Searching nodes whose cuts are drawn: of each column one threshold between the least and the largest value
// of the node. That takes no order of the rows, so none is kept: a column costs one look at each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/problem.hpp"
#include "growers/column_draw.hpp"
#include "growers/random_cuts.hpp"
#include "growers/sides.hpp"
#include "growers/split.hpp"
#include "growers/subsets.hpp"
#include "growers/subtree.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright {

template <class Id>
class RandomCutFinder {
  public:
    RandomCutFinder(Subtree<Id>& subtree, const ColumnDraw&)
        : subtree_(subtree),
          problem_(subtree.problem),
          limits_(subtree.problem.limits),
          scanner_(subtree.scanner) {}

    void load(bool is_best_first) {
        const std::size_t n = subtree_.rows.size();
        node_rows_.resize(n);
        // Values of the rows of a node lie scattered over a large table; in an excerpt they stay in cache.
        leaves_excerpts_ = !is_best_first && problem_.fine_bins && n > 2 * excerpt_rows;
    }
    bool leaves(const Leaf& leaf) const { return leaves_excerpts_ && leaf.size() <= excerpt_rows; }

    void enter(const Leaf& leaf) {
        std::ranges::transform(subtree_.ids_of(leaf), node_rows_.begin(),
                               [&](Id id) { return subtree_.rows[id]; });
    }
    void try_column(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        if (problem_.columns[column].is_category())
            try_category(leaf, column, cuts);
        else if (problem_.columns[column].type == Column::Type::float32)
            try_number(leaf, column, cuts, floats_);
        else
            try_number(leaf, column, cuts, doubles_);
    }

    /// The values on both sides of the drawn threshold.
    void finish(Leaf& node) {
        if (problem_.columns[node.split.column].is_category()) return;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double drawn = node.split.low;
        double below = -infinity, above = infinity;
        with_values(problem_.columns[node.split.column], [&](auto value) {
            for (const Id id : subtree_.ids_of(node)) {
                const double v = value(subtree_.rows[id]);
                const double left = v <= drawn ? v : -infinity, right = v > drawn ? v : infinity;
                below = left > below ? left : below;
                above = right < above ? right : above;
            }
        });
        node.split.low = drawn == infinity ? infinity : below;
        node.split.high = above;
    }

    std::size_t mark_sides(const Leaf& parent) {
        return mark_by_value(problem_, parent.split, std::span<const Row>(subtree_.rows),
                             std::span<const Id>(subtree_.ids_of(parent)), subtree_.goes_left);
    }
    void divide(const Leaf&, std::size_t) {}

  private:
    static constexpr std::size_t excerpt_rows = 8192;

    /// The values are copied as they are stored, in the order of the rows, so that the loops over them have
    /// no branches and take several at a time.
    template <class Number>
    void try_number(const Leaf& node, std::size_t column, Records<ColumnCut>& cuts,
                    std::vector<Number>& values) {
        const auto ids = subtree_.ids_of(node);
        const std::size_t n = ids.size();
        values.resize(subtree_.rows.size());
        for (std::size_t i = 0; i < n; ++i)
            values[i] = problem_.columns[column].template at<Number>(node_rows_[i]);
        Number low = std::numeric_limits<Number>::infinity(), high = -low;
        std::size_t n_known = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Number v = values[i];
            low = v < low ? v : low;
            high = v > high ? v : high;
            n_known += v == v;
        }
        const std::size_t n_missing = n - n_known;
        if (n_known == 0 || (n_missing == 0 && low == high)) return;
        const bool one_value = low == high;  // then the only cut is between it and the missing ones
        const bool missing_left = n_missing > 0 && !one_value && draws_missing_left(node.key, column);
        const double drawn =
            one_value ? high
                      : drawn_threshold(node, column, {low, high}, std::span<const Number>(values).first(n));
        const Number cut = rounded_down<Number>(drawn);
        Id* const sent = subtree_.spill.data();
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Number v = values[i];
            sent[n_left] = ids[i];
            n_left += static_cast<std::size_t>(v <= cut) | (missing_left & (v != v));
        }
        if (std::cmp_less(std::min(n_left, n - n_left), limits_.min_rows_leaf)) return;
        const std::span<const Id> left(sent, n_left);
        const auto scored = scanner_.send_above(cuts.largest(), left);
        if (!scored || std::min(scored->weight, node.weight - scored->weight) < limits_.min_weight_leaf)
            return;
        ColumnCut found = subtree_.cut_of(column, scored->score);
        if (scanner_.rounds_scores()) found.split.gain = subtree_.plain_gain(left);
        found.weight_left = scored->weight;
        found.split.missing_left = missing_left;
        found.split.saw_missing = n_missing > 0;
        // where all known values lie left, the missing ones alone go right
        found.split.low = one_value ? std::numeric_limits<double>::infinity() : drawn;
        cuts.add(scored->score, std::move(found));
    }
    /// The largest number of a type that is not above a value: it lies left of the same numbers.
    template <class Number>
    static Number rounded_down(double value) {
        const auto near = static_cast<Number>(value);
        return near <= value ? near : std::nextafter(near, -std::numeric_limits<Number>::infinity());
    }
    /// A number drawn between the smallest and the largest value; below the largest, from the smallest on.
    template <class Number>
    double drawn_threshold(const Leaf& node, std::size_t column, const Range& range,
                           std::span<const Number> values) {
        const double drawn = drawn_number(threshold_stream(node.key, column), range, [&] {
            Range finite;
            for (const Number value : values)
                if (std::isfinite(value)) finite.take(value);
            return finite;
        });
        const auto [low, high] = range;
        return drawn >= low && drawn < high ? drawn : drawn >= high ? std::nextafter(high, low) : low;
    }

    void try_category(const Leaf& node, std::size_t column, Records<ColumnCut>& cuts) {
        const auto ids = subtree_.ids_of(node);
        const auto& source = problem_.columns[column];
        by_code_.clear();
        for (const Id id : ids) {
            const auto code = std::max(source.code(subtree_.rows[id]), missing_code);
            // the missing ones come last
            by_code_.push_back(static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)) << 32 | id);
        }
        std::sort(by_code_.begin(), by_code_.end());
        GroupScorer& scorer = *scanner_.groups();
        const std::size_t width = scorer.width();
        groups_ = {};
        groups_.missing.assign(width, 0);
        std::vector<std::int32_t> codes;
        Id* const sorted = subtree_.spill.data();
        for (std::size_t begin = 0, end; begin < ids.size(); begin = end) {
            const auto code = static_cast<std::int32_t>(by_code_[begin] >> 32);
            for (end = begin; end < ids.size() && static_cast<std::int32_t>(by_code_[end] >> 32) == code;
                 ++end)
                sorted[end] = static_cast<Id>(by_code_[end]);
            const std::span<const Id> group(sorted + begin, end - begin);
            if (code == missing_code) {
                scanner_.add_to(groups_.missing.data(), group);
                groups_.n_missing = group.size();
                continue;
            }
            codes.push_back(code);
            groups_.counts.push_back(group.size());
            groups_.statistics.resize(codes.size() * width, 0);
            scanner_.add_to(groups_.statistics.data() + (codes.size() - 1) * width, group);
        }
        groups_.n = codes.size();
        if (groups_.n == 0 || (groups_.n == 1 && groups_.n_missing == 0)) return;
        SubsetSearch search(scorer, limits_, groups_, ids.size(), scanner_.noise(), cuts.largest());
        Random random = subset_stream(node.key, column);
        if (!(groups_.n > 1 ? search.run_random(random) : search.run())) return;
        ColumnCut cut = subtree_.cut_of(column, search.score());
        cut.weight_left = search.found.weight_left;
        cut.split.missing_left = search.found.missing_left;
        cut.split.saw_missing = groups_.n_missing > 0;
        for (std::size_t g = 0; g < groups_.n; ++g)
            (search.found.is_left[g] ? cut.split.left_codes : cut.split.right_codes).push_back(codes[g]);
        cuts.add(search.score(), std::move(cut));
    }

    Subtree<Id>& subtree_;
    const Problem& problem_;
    const Limits& limits_;
    ListScanner<Id>& scanner_;
    std::vector<Row> node_rows_;  // the rows of the node that is searched
    std::vector<float> floats_;   // and their values in one column
    std::vector<double> doubles_;
    std::vector<std::uint64_t> by_code_;
    Groups groups_;
    bool leaves_excerpts_ = false;
};

}  // namespace treewright
