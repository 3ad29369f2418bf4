// A tree as predictions take it: the arrays by which rows find their leaves, checked once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "growers/oblique/directions.hpp"
#include "tree/shape.hpp"

namespace treewright {

class NumberTree;

/// Tests of other columns that decide where the value that a node tests is missing. Those of node i are
/// start[i] … start[i + 1], the best one first; a row that passes a reversed one goes right.
struct SurrogateTests {
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> feature;
    std::span<const double> threshold;
    std::span<const std::int64_t> subset;
    std::span<const std::uint8_t> reversed, subsets;
};

/// The tests of a tree in preorder. A feature beyond the columns of the table tests a direction.
struct TreeTests {
    std::size_t n_columns = 0;  // of the tables whose rows the tree takes
    Shape end;
    std::span<const std::int32_t> feature;
    std::span<const double> threshold;
    std::span<const std::int64_t> subset;
    std::span<const std::uint8_t> missing_left, heavier_left, subsets;
    std::vector<Direction> directions;
    SurrogateTests surrogates;
};

/// Tests of which it is certain that they lead no row outside the arrays. They own no memory but what they
/// are laid out anew in.
class TreeView : public TreeTests {
  public:
    /// Throws std::invalid_argument where the arrays are not the tests of a tree.
    explicit TreeView(TreeTests tests);

    /// Throws std::invalid_argument unless the table has the columns that the tree tests, of their kinds.
    void check(const std::vector<Column>& columns) const;

    std::size_t size() const { return end.size(); }
    bool is_leaf(std::size_t node) const { return feature[node] < 0; }
    std::size_t left(std::size_t node) const { return node + 1; }
    std::size_t right(std::size_t node) const { return end[node + 1]; }

    /// Whether a number goes left at a node that tests one.
    bool goes_left(std::size_t node, double x) const {
        return std::isnan(x) ? missing_left[node] != 0 : x <= threshold[node];
    }
    /// Whether a category goes left at a node that tests one. A code that training never saw goes to the
    /// heavier child; one beyond the subset is of no category in it.
    bool goes_left(std::size_t node, std::int32_t code) const {
        if (code == missing_code) return missing_left[node] != 0;
        if (code < 0) return heavier_left[node] != 0;
        return holds(subsets, subset[node], code);
    }
    /// Whether a row goes left at a branch.
    bool goes_left(std::size_t node, const std::vector<Column>& columns, std::size_t row) const {
        const std::size_t tested = feature[node];
        return subset[node] < 0 ? goes_left(node, number(tested, columns, row))
                                : goes_left(node, columns[tested].code(row));
    }
    /// Whether a row misses a feature that some node tests.
    bool misses(std::int32_t tested, const std::vector<Column>& columns, std::size_t row) const {
        const std::size_t place = tested;
        return place < n_columns && columns[place].is_category() ? columns[place].code(row) == missing_code
                                                                 : std::isnan(number(place, columns, row));
    }
    /// The leaf of a row; a missing value goes by missing_left.
    std::int32_t leaf_of(const std::vector<Column>& columns, std::size_t row) const {
        std::size_t node = 0;
        while (!is_leaf(node)) node = goes_left(node, columns, row) ? left(node) : right(node);
        return static_cast<std::int32_t>(node);
    }

    /// The features that some node tests, ascending.
    std::span<const std::int32_t> tested() const { return tested_; }

    /// The tree laid out for walks of many rows. That of a tree of few nodes is kept.
    std::shared_ptr<const NumberTree> laid_out() const;
    /// Whether so many rows are enough to pay for that.
    bool pays_to_lay_out(std::size_t n_rows) const;

    /// Whether a code is in the subset that begins at a byte.
    static bool holds(std::span<const std::uint8_t> subsets, std::int64_t first, std::int32_t code) {
        const std::size_t place = first + code / 8;
        return place < subsets.size() && (subsets[place] >> (code % 8) & 1);
    }

  private:
    double number(std::size_t tested, const std::vector<Column>& columns, std::size_t row) const {
        return tested < n_columns ? columns[tested].value(row)
                                  : sum_at(directions[tested - n_columns], columns, static_cast<Row>(row));
    }
    void check_nodes();
    void check_directions() const;
    void check_surrogates() const;

    std::vector<std::int32_t> tested_;
    std::vector<std::uint8_t> tests_category_;  // of each of `tested_`
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const NumberTree> laid_out_;
};

}  // namespace treewright
