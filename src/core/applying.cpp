// Sending rows down a finished tree, a block of rows at a time.
#include "applying.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace treewright {

namespace {

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
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const auto node = static_cast<std::size_t>(order_[i]);
            const auto here = static_cast<std::uint32_t>(i);
            if (routes.feature[node] < 0) {
                steps_.push_back({never, T{0}, here, 0});
                continue;
            }
            const bool missing_left = routes.missing_left[node];
            const T threshold = rounded_down(routes.threshold[node]);
            steps_.push_back({missing_left ? next_above(threshold) : -threshold, missing_left ? T{0} : -T{0},
                              static_cast<std::uint32_t>(order_.size()),
                              offsets[static_cast<std::size_t>(routes.feature[node])]});
            const std::int32_t left = order_[i] + 1, right = routes.end[node + 1];
            order_.push_back(missing_left ? left : right);
            order_.push_back(missing_left ? right : left);
        }
    }

    /// One step down for the row that begins at `row`; a leaf leads to itself.
    std::uint32_t next(std::uint32_t place, const std::byte* row) const {
        const Step& step = steps_[place];
        const T x = *reinterpret_cast<const T*>(row + step.offset);
        return step.first + static_cast<std::uint32_t>(with_sign(x, step.sign) >= step.threshold);
    }
    bool is_leaf(std::uint32_t place) const { return steps_[place].first == place; }
    std::int32_t node(std::uint32_t place) const { return order_[place]; }

  private:
    static constexpr T never = std::numeric_limits<T>::quiet_NaN();
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

    struct Step {
        T threshold;
        T sign;  // 0 or −0
        std::uint32_t first;
        std::int32_t offset;
    };
    static T with_sign(T x, T sign) {
        return std::bit_cast<T>(std::bit_cast<Bits>(x) ^ std::bit_cast<Bits>(sign));
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
};

/// Numbers of one type whose rows are equally far apart in every column: a matrix, or columns of a table.
template <class T>
class NumberWalk {
  public:
    NumberWalk(const Routes& routes, const std::vector<Column>& columns)
        : tree_(routes, offsets(columns)), data_(columns[0].data), stride_(columns[0].stride) {}
    static bool fits(const std::vector<Column>& columns) {
        constexpr auto type = sizeof(T) == 8 ? Column::Type::float64 : Column::Type::float32;
        return std::all_of(columns.begin(), columns.end(), [&](const Column& c) {
            const auto offset = c.data - columns[0].data;
            return c.type == type && c.stride == columns[0].stride &&
                   offset == static_cast<std::int32_t>(offset);
        });
    }

    /// A block of rows goes down together, all of them one step after the other: while one waits for memory
    /// the others move. Now and then those that arrived drop out. No branch depends on the data.
    void run(std::size_t begin, std::size_t end, std::int32_t* leaf) const {
        constexpr std::size_t block = 256;
        constexpr int steps = 4;
        std::array<const std::byte*, block> cells;
        std::array<std::uint32_t, block> place;
        std::array<std::uint16_t, block> row;
        for (std::size_t first = begin; first < end; first += block) {
            std::size_t n = std::min(block, end - first);
            for (std::size_t i = 0; i < n; ++i) {
                cells[i] = data_ + static_cast<std::ptrdiff_t>(first + i) * stride_;
                place[i] = 0;
                row[i] = static_cast<std::uint16_t>(i);
            }
            while (n > 0) {
                for (int step = 0; step < steps; ++step)
                    for (std::size_t i = 0; i < n; ++i) place[i] = tree_.next(place[i], cells[i]);
                std::size_t n_moving = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    leaf[first + row[i]] = tree_.node(place[i]);
                    const bool is_moving = !tree_.is_leaf(place[i]);
                    cells[n_moving] = cells[i];
                    place[n_moving] = place[i];
                    row[n_moving] = row[i];
                    n_moving += is_moving;
                }
                n = n_moving;
            }
        }
    }

  private:
    static std::vector<std::int32_t> offsets(const std::vector<Column>& columns) {
        std::vector<std::int32_t> offsets;
        for (const auto& column : columns)
            offsets.push_back(static_cast<std::int32_t>(column.data - columns[0].data));
        return offsets;
    }

    NumberTree<T> tree_;
    const std::byte* data_;
    std::ptrdiff_t stride_;
};

std::int32_t leaf_of(const Routes& routes, const std::vector<Column>& columns, std::size_t row) {
    std::size_t node = 0;
    while (routes.feature[node] >= 0) {
        const Column& column = columns[static_cast<std::size_t>(routes.feature[node])];
        const bool left = routes.subset[node] < 0 ? goes_left(routes, node, column.value(row))
                                                  : goes_left(routes, node, column.code(row));
        node = left ? node + 1 : static_cast<std::size_t>(routes.end[node + 1]);
    }
    return static_cast<std::int32_t>(node);
}

}  // namespace

void apply(const Routes& routes, const std::vector<Column>& columns, std::size_t n_rows, std::int32_t* leaf,
           Pool& pool, Interrupt& interrupt) {
    constexpr std::size_t block = 8192;
    const std::size_t n_blocks = (n_rows + block - 1) / block;
    const auto in_blocks = [&](auto&& walk) {
        pool.run(n_blocks, [&](std::size_t task, std::size_t) {
            interrupt.check();
            walk(task * block, std::min(n_rows, (task + 1) * block));
        });
    };
    // To lay the tree out anew takes about as long as some rows.
    const bool is_worth_it = n_rows > 1 + routes.end.size() / 16;
    if (is_worth_it && NumberWalk<double>::fits(columns)) {
        const NumberWalk<double> walk(routes, columns);
        in_blocks([&](std::size_t begin, std::size_t end) { walk.run(begin, end, leaf); });
    } else if (is_worth_it && NumberWalk<float>::fits(columns)) {
        const NumberWalk<float> walk(routes, columns);
        in_blocks([&](std::size_t begin, std::size_t end) { walk.run(begin, end, leaf); });
    } else {
        in_blocks([&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) leaf[row] = leaf_of(routes, columns, row);
        });
    }
}

}  // namespace treewright
