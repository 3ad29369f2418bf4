// The arrays of a tree, checked once.
#include "predicting/tree_view.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "predicting/walking.hpp"

namespace treewright {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw std::invalid_argument("these are not the tests of a tree: " + why);
}

/// A subset begins in `subsets`, or there is none: -1.
bool is_subset(std::int64_t first, std::span<const std::uint8_t> subsets) {
    return first >= -1 && first <= std::ssize(subsets);
}

}  // namespace

TreeView::TreeView(TreeTests tests) : TreeTests(std::move(tests)) {
    const auto lengths = {feature.size(), threshold.size(), subset.size(), missing_left.size(),
                          heavier_left.size()};
    if (std::any_of(lengths.begin(), lengths.end(), [&](std::size_t length) { return length != size(); }))
        refuse("the arrays differ in length");
    check_shape(end);
    check_directions();
    check_nodes();
    check_surrogates();
}

void TreeView::check_nodes() {
    enum : std::uint8_t { nothing, number, category };
    const std::size_t n_features = n_columns + directions.size();
    std::vector<std::uint8_t> kinds(n_features, nothing);
    for (std::size_t node = 0; node < size(); ++node) {
        const std::int32_t own = feature[node];
        if ((own < 0) != treewright::is_leaf(end, node))
            refuse("a node is a leaf by `end` but not by `feature`, or the reverse");
        if (own < 0) continue;
        const std::size_t tested = own;
        if (tested >= n_features) refuse("a test names a column beyond those there are");
        if (!is_subset(subset[node], subsets)) refuse("a subset lies outside the subsets");
        const std::uint8_t kind = subset[node] < 0 ? number : category;
        if (kind == number && std::isnan(threshold[node])) refuse("a test of a number has no threshold");
        if (kind == category && tested >= n_columns) refuse("a direction is tested for categories");
        if (kinds[tested] != nothing && kinds[tested] != kind)
            refuse("a column is tested for a number and for categories");
        kinds[tested] = kind;
    }
    for (std::size_t i = 0; i < n_features; ++i) {
        if (kinds[i] == nothing) continue;
        tested_.push_back(static_cast<std::int32_t>(i));
        tests_category_.push_back(kinds[i] == category);
    }
}

void TreeView::check_directions() const {
    for (const Direction& direction : directions) {
        if (direction.columns.empty() || direction.columns.size() != direction.weights.size())
            refuse("a direction needs a weight for each of its columns");
        for (const std::int32_t column : direction.columns)
            if (column < 0 || static_cast<std::size_t>(column) >= n_columns)
                refuse("a direction names a column beyond those there are");
    }
}

void TreeView::check_surrogates() const {
    const auto& [start, other, limit, first, reversed, bits] = surrogates;
    if (start.empty() && other.empty()) return;
    if (start.size() != size() + 1 || start.front() != 0 || !std::is_sorted(start.begin(), start.end()) ||
        start.back() != std::ssize(other) || limit.size() != other.size() || first.size() != other.size() ||
        reversed.size() != other.size())
        refuse("the arrays of the surrogates differ in length");
    for (std::size_t i = 0; i < other.size(); ++i) {
        if (other[i] < 0 || static_cast<std::size_t>(other[i]) >= n_columns)
            refuse("a surrogate names a column beyond those there are");
        if (!is_subset(first[i], bits)) refuse("a subset lies outside the subsets of the surrogates");
    }
}

void TreeView::check(const std::vector<Column>& columns) const {
    if (columns.size() != n_columns)
        throw std::invalid_argument("the table has " + std::to_string(columns.size()) +
                                    " columns, but the tree is of tables of " + std::to_string(n_columns));
    for (std::size_t i = 0; i < tested_.size(); ++i) {
        const std::size_t tested = tested_[i];
        if (tested < n_columns && columns[tested].is_category() != (tests_category_[i] != 0))
            throw std::invalid_argument("the tree tests another kind of column than column " +
                                        std::to_string(tested) + " of the table");
    }
    for (const Direction& direction : directions)
        for (const std::int32_t column : direction.columns)
            if (columns[column].is_category())
                throw std::invalid_argument("a direction needs columns of numbers");
}

bool TreeView::pays_to_lay_out(std::size_t n_rows) const {
    constexpr std::size_t few = 8;                             // rows that do not keep a walk busy
    constexpr std::size_t nodes_made = 16, nodes_copied = 64;  // in the time that a row saves
    if (n_rows > few + size() / nodes_made) return true;
    if (n_rows <= few + size() / nodes_copied) return false;
    const std::lock_guard lock(mutex_);
    return laid_out_ != nullptr;
}

std::shared_ptr<const NumberTree> TreeView::laid_out() const {
    constexpr std::size_t most_kept = std::size_t{1} << 14;  // nodes, of 20 bytes
    if (size() > most_kept) return std::make_shared<const NumberTree>(*this);
    const std::lock_guard lock(mutex_);
    if (!laid_out_) laid_out_ = std::make_shared<const NumberTree>(*this);
    return laid_out_;
}

}  // namespace treewright
