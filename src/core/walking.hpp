// Trees of thresholds laid out for walking, and blocks of rows that walk down them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "applying.hpp"
#include "columns.hpp"

namespace treewright {

/// A tree of thresholds as the walk reads it: breadth first, so that the nodes that every row passes lie
/// together. From each node one comparison leads to the first or to the second of two neighbours. It is false
/// for NaN, so the first one is where missing values go: x ≥ t where they go left, −x ≥ t where they go
/// right.
template <class T>
class NumberTree {
  public:
    /// `offsets`: how far each column's values lie from a row's first byte.
    NumberTree(const Routes& routes, const std::vector<std::int32_t>& offsets) : order_(1, 0) {
        steps_.reserve(routes.end.size());
        order_.reserve(routes.end.size());
        std::size_t next_level = 1;  // where the nodes of the next depth begin
        for (std::size_t i = 0; i < order_.size(); ++i) {
            if (i == next_level) {
                ++height_;
                next_level = order_.size();
            }
            const auto node = static_cast<std::size_t>(order_[i]);
            const auto here = static_cast<std::uint32_t>(i);
            if (routes.feature[node] < 0) {
                steps_.push_back({never, here, 0});
                continue;
            }
            const bool missing_left = routes.missing_left[node];
            const T threshold = rounded_down(routes.threshold[node]);
            steps_.push_back({missing_left ? next_above(threshold) : -threshold,
                              static_cast<std::uint32_t>(order_.size()),
                              offsets[static_cast<std::size_t>(routes.feature[node])] | !missing_left});
            const std::int32_t left = order_[i] + 1, right = routes.end[node + 1];
            order_.push_back(missing_left ? left : right);
            order_.push_back(missing_left ? right : left);
        }
    }

    /// One step down for the row that begins at `row`; a leaf leads to itself.
    std::uint32_t next(std::uint32_t place, const std::byte* row) const {
        const Step& step = steps_[place];
        const T x = *reinterpret_cast<const T*>(row + (step.offset & ~1));
        return step.first + static_cast<std::uint32_t>(negated(x, step.offset & 1) >= step.threshold);
    }
    bool is_leaf(std::uint32_t place) const { return steps_[place].first == place; }
    std::int32_t node(std::uint32_t place) const { return order_[place]; }
    std::size_t size() const { return order_.size(); }
    /// The most steps to a leaf.
    int height() const { return height_; }

  private:
    static constexpr T never = std::numeric_limits<T>::quiet_NaN();
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

    struct Step {
        T threshold;
        std::uint32_t first;
        std::int32_t offset;  // of the value; its last bit, which no value needs, is 1 where −x is compared
    };
    static T negated(T x, std::int32_t is_negative) {
        const auto sign = static_cast<Bits>(is_negative) << (8 * sizeof(T) - 1);
        return std::bit_cast<T>(std::bit_cast<Bits>(x) ^ sign);
    }
    static T next_above(T x) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        return x == infinity ? never : std::nextafter(x, infinity);
    }
    /// The largest T that is not above the threshold: a T is above one where it is above the other.
    static T rounded_down(double threshold) {
        const T near = static_cast<T>(threshold);
        return static_cast<double>(near) <= threshold
                   ? near
                   : std::nextafter(near, -std::numeric_limits<T>::infinity());
    }

    std::vector<Step> steps_;
    std::vector<std::int32_t> order_;  // the tree's own number of each place
    int height_ = 0;
};

/// Numbers of one type whose rows are equally far apart in every column: a matrix, or columns of a table.
template <class T>
class NumberRows {
  public:
    static constexpr std::size_t block = 256;
    using Places = std::array<std::uint32_t, block>;

    explicit NumberRows(const std::vector<Column>& columns)
        : data_(columns[0].data), stride_(columns[0].stride) {
        for (const auto& column : columns)
            offsets_.push_back(static_cast<std::int32_t>(column.data - columns[0].data));
    }
    static bool fit(const std::vector<Column>& columns) {
        constexpr auto type = sizeof(T) == 8 ? Column::Type::float64 : Column::Type::float32;
        return std::all_of(columns.begin(), columns.end(), [&](const Column& c) {
            const auto offset = c.data - columns[0].data;
            return c.type == type && c.stride == columns[0].stride && offset % 2 == 0 &&
                   offset == static_cast<std::int32_t>(offset);
        });
    }
    const std::vector<std::int32_t>& offsets() const { return offsets_; }

    /// The places of up to `block` rows from `first` on in the leaves of a tree. They go down together, all
    /// of them one step after the other: while one waits for memory the others move. No branch depends on the
    /// data.
    void walk(const NumberTree<T>& tree, std::size_t first, std::size_t n, Places& arrived) const {
        constexpr int few = 10;  // levels that all rows may as well go down to the end
        std::array<const std::byte*, block> cells;
        for (std::size_t i = 0; i < n; ++i) {
            cells[i] = data_ + static_cast<std::ptrdiff_t>(first + i) * stride_;
            arrived[i] = 0;
        }
        if (tree.height() > few) return walk_deep(tree, n, cells, arrived);
        for (int step = 0; step < tree.height(); ++step)
            for (std::size_t i = 0; i < n; ++i) arrived[i] = tree.next(arrived[i], cells[i]);
    }

  private:
    /// Now and then the rows that arrived drop out.
    static void walk_deep(const NumberTree<T>& tree, std::size_t n,
                          std::array<const std::byte*, block>& cells, Places& arrived) {
        constexpr int first_steps = 8, steps = 4;  // few rows of a deep tree arrive sooner
        Places place{};
        std::array<std::uint16_t, block> row;
        for (std::size_t i = 0; i < n; ++i) row[i] = static_cast<std::uint16_t>(i);
        for (int n_steps = first_steps; n > 0; n_steps = steps) {
            for (int step = 0; step < n_steps; ++step)
                for (std::size_t i = 0; i < n; ++i) place[i] = tree.next(place[i], cells[i]);
            std::size_t n_moving = 0;
            for (std::size_t i = 0; i < n; ++i) {
                arrived[row[i]] = place[i];
                const bool is_moving = !tree.is_leaf(place[i]);
                cells[n_moving] = cells[i];
                place[n_moving] = place[i];
                row[n_moving] = row[i];
                n_moving += is_moving;
            }
            n = n_moving;
        }
    }

    std::vector<std::int32_t> offsets_;
    const std::byte* data_;
    std::ptrdiff_t stride_;
};

/// The leaf of one row of any columns.
inline std::int32_t leaf_of(const Routes& routes, const std::vector<Column>& columns, std::size_t row) {
    std::size_t node = 0;
    while (routes.feature[node] >= 0) {
        const Column& column = columns[static_cast<std::size_t>(routes.feature[node])];
        const bool left = routes.subset[node] < 0 ? goes_left(routes, node, column.value(row))
                                                  : goes_left(routes, node, column.code(row));
        node = left ? node + 1 : static_cast<std::size_t>(routes.end[node + 1]);
    }
    return static_cast<std::int32_t>(node);
}

}  // namespace treewright
