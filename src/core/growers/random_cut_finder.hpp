// Searching nodes whose cuts are drawn: of each column one threshold between the least and the largest value
// of the node. That takes no order of the rows, so none is kept: a column costs one look at each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
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
#include "growers/value_loops.hpp"
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
        const auto& rows = subtree_.rows;
        const std::size_t n = rows.size();
        node_rows_.resize(n);
        sides_.resize(n);
        // The rows of an excerpt are their own ids.
        are_rows_ids_ = true;
        for (std::size_t i = 0; are_rows_ids_ && i < n; ++i) are_rows_ids_ = rows[i] == i;
        // Values of the rows of a node lie scattered over a large table; in an excerpt they stay in cache.
        leaves_excerpts_ = !is_best_first && problem_.fine_bins && n > 2 * excerpt_rows;
        class_begin_.clear();
        if (!scanner_.counts_classes()) return;
        for (std::int32_t k = 0; k <= problem_.targets.n_classes[0]; ++k)
            class_begin_.push_back(static_cast<std::size_t>(
                std::ranges::partition_point(rows, [&](Row row) { return problem_.label(row) < k; }) -
                rows.begin()));
    }
    bool leaves(const Leaf& leaf) const { return leaves_excerpts_ && leaf.size() <= excerpt_rows; }

    void enter(const Leaf& leaf) {
        const auto ids = subtree_.ids_of(leaf);
        held_column_ = none;
        if (!are_rows_ids_)
            std::ranges::transform(ids, node_rows_.begin(), [&](Id id) { return subtree_.rows[id]; });
        class_end_.clear();
        if (class_begin_.empty()) return;
        for (std::size_t end = 0; end < ids.size(); class_end_.push_back(end)) {
            const auto label = static_cast<std::size_t>(problem_.label(subtree_.rows[ids[end]]));
            end = static_cast<std::size_t>(
                std::ranges::lower_bound(ids.subspan(end), class_begin_[label + 1], {},
                                         [](Id id) { return static_cast<std::size_t>(id); }) -
                ids.begin());
        }
        left_counts_.resize(class_end_.size());
    }
    void try_column(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        if (problem_.columns[column].is_category())
            try_category(leaf, column, cuts);
        else if (problem_.columns[column].type == Column::Type::float32)
            try_number(leaf, column, cuts, floats_);
        else
            try_number(leaf, column, cuts, doubles_);
    }

    /// The values on both sides of the drawn threshold, and the sides of the rows: the values are at hand.
    void finish(Leaf& node) {
        const auto& column = problem_.columns[node.split.column];
        if (column.is_category()) return;
        if (column.type == Column::Type::float32)
            finish_number(node, floats_);
        else
            finish_number(node, doubles_);
    }

    std::size_t mark_sides(const Leaf& parent) {
        return mark_by_value(problem_, parent.split, std::span<const Row>(subtree_.rows),
                             std::span<const Id>(subtree_.ids_of(parent)), subtree_.goes_left);
    }
    std::size_t divide_ids(const Leaf& parent) {
        const auto ids = subtree_.ids_of(parent);
        if (problem_.columns[parent.split.column].is_category()) {
            const std::size_t n_left = mark_sides(parent);
            subtree_.divide(ids);
            return n_left;
        }
        subtree_.divide(ids, [side = sides_.data() + parent.begin](std::size_t i, Id) { return side[i]; });
        return parent.n_first;
    }
    void divide(const Leaf&, std::size_t) {}

  private:
    static constexpr std::size_t excerpt_rows = 8192;
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    /// The values of the rows of a node, as they are stored: of the column that is tried, and of the one
    /// whose cut was the best of those tried so far.
    template <class Number>
    struct Values {
        std::vector<Number> tried{}, best{};
    };

    /// The values are copied in the order of the rows, so that the loops over them have no branches and take
    /// several at a time.
    template <class Number>
    std::span<const Number> gather(const Leaf& node, std::size_t column, std::vector<Number>& values) {
        const auto ids = subtree_.ids_of(node);
        const std::size_t n = ids.size();
        const Column& source = problem_.columns[column];
        if (values.size() < n) values.resize(subtree_.rows.size());
        Number* const to = values.data();
        const Row* const rows = node_rows_.data();
        const auto* const cells = reinterpret_cast<const Number*>(source.data);
        if (std::cmp_not_equal(source.stride, sizeof(Number)))
            for (std::size_t i = 0; i < n; ++i)
                to[i] = source.template at<Number>(are_rows_ids_ ? ids[i] : rows[i]);
        else if (are_rows_ids_)
            for (std::size_t i = 0; i < n; ++i) to[i] = cells[ids[i]];
        else
            for (std::size_t i = 0; i < n; ++i) to[i] = cells[rows[i]];
        return {to, n};
    }

    template <class Number>
    void try_number(const Leaf& node, std::size_t column, Records<ColumnCut>& cuts, Values<Number>& held) {
        const auto values = gather(node, column, held.tried);
        const auto [low, high] = extremes(values);
        if (low > high) return;
        const bool has_missing = count_missing(values) > 0;
        if (!has_missing && low == high) return;
        const bool one_value = low == high;  // then the only cut is between it and the missing ones
        const bool missing_left = has_missing && !one_value && draws_missing_left(node.key, column);
        const double drawn = one_value ? high : drawn_threshold(node, column, {low, high}, values);
        const auto scored = score_of(node, values, rounded_down<Number>(drawn), missing_left, cuts.largest());
        if (!scored || std::min(scored->weight, node.weight - scored->weight) < limits_.min_weight_leaf)
            return;
        ColumnCut found = subtree_.cut_of(column, scored->score);
        if (scanner_.rounds_scores()) found.split.gain = plain_gain(scored->n_left);
        found.weight_left = scored->weight;
        found.split.missing_left = missing_left;
        found.split.saw_missing = has_missing;
        // where all known values lie left, the missing ones alone go right
        found.split.low = one_value ? std::numeric_limits<double>::infinity() : drawn;
        cuts.add(scored->score, std::move(found));
        std::swap(held.tried, held.best);
        held_column_ = column;
    }

    struct Scored {
        double score, weight;
        std::size_t n_left;
    };
    /// What a cut scores; nothing if it is not allowed, or not more than `least`. Notes what goes left: how
    /// many rows of each class, where that says all, otherwise their ids.
    template <class Number>
    std::optional<Scored> score_of(const Leaf& node, std::span<const Number> values, Number cut,
                                   bool missing_left, double least) {
        const std::size_t n = values.size();
        std::size_t n_left = 0;
        for (std::size_t k = 0, begin = 0; k < class_end_.size(); begin = class_end_[k++]) {
            const auto of_class = values.subspan(begin, class_end_[k] - begin);
            const std::size_t n_of_class = count_left(of_class, cut, missing_left);
            left_counts_[k] = static_cast<Sum>(n_of_class);
            n_left += n_of_class;
        }
        const auto ids = subtree_.ids_of(node);
        Id* const sent = subtree_.spill.data();
        for (std::size_t i = 0; class_end_.empty() && i < n; ++i) {
            const bool is_missing = std::isnan(values[i]);
            sent[n_left] = ids[i];
            n_left += static_cast<std::size_t>(values[i] <= cut) | (missing_left & is_missing);
        }
        if (std::cmp_less(std::min(n_left, n - n_left), limits_.min_rows_leaf)) return std::nullopt;
        if (class_end_.empty()) {
            const auto found = scanner_.send_above(least, std::span<const Id>(sent, n_left));
            return found ? std::optional(Scored{found->score, found->weight, n_left}) : std::nullopt;
        }
        const double score = scanner_.score_of_counts(left_counts_);
        return score > least ? std::optional(Scored{score, static_cast<double>(n_left), n_left})
                             : std::nullopt;
    }
    /// The gain of the cut just scored, whichever way the scanner came to it.
    double plain_gain(std::size_t n_left) {
        if (class_end_.empty()) return subtree_.plain_gain({subtree_.spill.data(), n_left});
        return std::max(0.0, scanner_.gain(scanner_.groups()->score_of(left_counts_.data())));
    }

    template <class Number>
    void finish_number(Leaf& node, Values<Number>& held) {
        const auto column = static_cast<std::size_t>(node.split.column);
        const auto values = column == held_column_ ? std::span<const Number>(held.best).first(node.size())
                                                   : gather(node, column, held.tried);
        const double drawn = node.split.low;
        const auto cut = rounded_down<Number>(drawn);
        const auto [below, above] = neighbours(values, cut);
        node.split.low = drawn == std::numeric_limits<double>::infinity() ? drawn : below;
        node.split.high = above;
        note_sides(values, cut, node.split.missing_left, sides_.data() + node.begin);
        node.n_first = count_left(values, cut, node.split.missing_left);
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
    bool are_rows_ids_ = false;
    std::vector<Row> node_rows_;  // of the node that is searched, where they are not their own ids
    Values<float> floats_;
    Values<double> doubles_;
    std::size_t held_column_ = none;        // whose values are the best ones
    std::vector<std::uint8_t> sides_;       // of the rows of all leaves, as their ids lie: which go left
    std::vector<std::size_t> class_begin_;  // the first id of each class; empty where counts do not say all
    std::vector<std::size_t> class_end_;    // of each class of the node, among its rows
    std::vector<Sum> left_counts_;          // of each class of the node, for the cut that is tried
    std::vector<std::uint64_t> by_code_;
    Groups groups_;
    bool leaves_excerpts_ = false;
};

}  // namespace treewright
