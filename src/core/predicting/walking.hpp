// Trees of thresholds laid out for walking, and blocks of rows that walk down them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "predicting/tree_view.hpp"
#include "support/portable.hpp"

namespace treewright {

/// A tree of thresholds as the walk reads it: breadth first, so that the nodes that every row passes lie
/// together. From each node one comparison leads to the first or to the second of two neighbours. It is false
/// for NaN, so the first one is where missing values go: x > t where they go left, -x >= -t where they go
/// right.
class NumberTree {
  public:
    /// Of a tree that tests columns of numbers only.
    explicit NumberTree(const TreeView& tree);

    /// The same tree for rows whose values lie elsewhere: `offsets` of each column, in numbers.
    NumberTree moved(const std::vector<std::uint32_t>& offsets) const {
        NumberTree other = *this;
        for (std::uint32_t place = 0; place < size(); ++place) {
            std::uint32_t& own = other.steps_[place].offset;
            if (!is_leaf(place)) own = offsets[own >> 1] << 1 | (own & 1);
        }
        return other;
    }

    /// One step down for the row whose numbers begin at `row`; a leaf leads to itself.
    template <class T>
    std::uint32_t next(std::uint32_t place, const T* row) const {
        const Step& step = steps_[place];
        const double x = negated(row[step.offset >> 1], step.offset);
        return step.first + (x >= step.threshold);
    }
    bool is_leaf(std::uint32_t place) const { return steps_[place].first == place; }
    std::int32_t node(std::uint32_t place) const { return nodes_[place]; }
    std::size_t size() const { return nodes_.size(); }
    /// Steps that few rows need not take: all of a shallow tree, else those of a balanced one.
    int first_steps() const {
        constexpr int shallow = 10;
        return height_ <= shallow ? height_ : static_cast<int>(std::bit_width((size() + 1) / 2)) - 2;
    }
    static constexpr int more_steps = 4;  // until the next look at who has arrived

  private:
    static constexpr double never = std::numeric_limits<double>::quiet_NaN();

    struct Step {
        double threshold;
        std::uint32_t first;
        std::uint32_t offset;  // of the value, in numbers; the last bit is 1 where -x is compared
    };
    /// -x where the last bit is set.
    template <class T>
    static double negated(T x, std::uint32_t is_negative) {
        using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
        const auto sign = static_cast<Bits>(static_cast<Bits>(is_negative) << (8 * sizeof(T) - 1));
        return std::bit_cast<T>(std::bit_cast<Bits>(x) ^ sign);
    }

    std::vector<Step> steps_;
    std::vector<std::int32_t> nodes_;  // the tree's own number of each place
    int height_ = 0;
};

/// Numbers of one type whose rows are equally far apart in every column: a matrix, or columns of a table.
template <class T>
class NumberRows {
  public:
    static constexpr std::size_t block = 512;
    using Places = std::array<std::uint32_t, block>;

    explicit NumberRows(const std::vector<Column>& columns)
        : data_(first_of(columns)), stride_(columns[0].stride) {
        for (const auto& column : columns) {
            const auto offset = (column.data - data_) / static_cast<std::ptrdiff_t>(sizeof(T));
            are_neighbours_ = are_neighbours_ && offset == std::ssize(offsets_);
            offsets_.push_back(static_cast<std::uint32_t>(offset));
        }
        constexpr std::ptrdiff_t longest = 256, most_columns = 64;
        if (are_neighbours_ && stride_ > 0 && stride_ <= longest) fetched_ = {0};
        if (!are_neighbours_ && stride_ == sizeof(T) && std::ssize(columns) <= most_columns)
            fetched_ = offsets_;
    }
    static bool fit(const std::vector<Column>& columns) {
        constexpr auto type = sizeof(T) == 8 ? Column::Type::float64 : Column::Type::float32;
        constexpr std::ptrdiff_t size = sizeof(T), farthest = std::numeric_limits<std::int32_t>::max();
        if (columns.empty()) return false;
        const std::byte* first = first_of(columns);
        return std::ranges::all_of(columns, [&](const Column& column) {
            const auto offset = column.data - first;
            return column.type == type && column.stride == columns[0].stride && offset % size == 0 &&
                   offset / size <= farthest;
        });
    }
    /// The tree for these rows: as it is laid out where a row's numbers are neighbours, else moved.
    std::shared_ptr<const NumberTree> fitted(const TreeView& tree) const {
        auto laid_out = tree.laid_out();
        return are_neighbours_ ? laid_out : std::make_shared<const NumberTree>(laid_out->moved(offsets_));
    }

    /// The places of up to `block` rows from `first` on in the leaves of a tree. They go down together: while
    /// one waits for memory the others move. No branch depends on the data. Now and then the rows that
    /// arrived drop out. Meanwhile the next block, of `n_next` rows, is fetched.
    void walk(const NumberTree& tree, std::size_t first, std::size_t n, std::size_t n_next,
              Places& arrived) const {
        Walkers walkers;
        for (std::size_t i = 0; i < n; ++i) {
            walkers.cells[i] = row(first + i);
            walkers.place[i] = 0;
            walkers.row[i] = static_cast<std::uint16_t>(i);
        }
        walkers.go_down(tree, n, tree.first_steps(),
                        {row(first + n), n_next, static_cast<std::size_t>(stride_), fetched_});
        while ((n = walkers.drop_arrived(tree, n, arrived)) > 0)
            walkers.go_down(tree, n, tree.more_steps, {nullptr, 0, 0, {}});
    }

  private:
    static const std::byte* first_of(const std::vector<Column>& columns) {
        return std::ranges::min(columns, {}, &Column::data).data;
    }

    static constexpr std::size_t lanes = 16;  // rows whose places are in registers

    /// Calls work(0, 1, …), so that a step of all lanes is compiled without a loop.
    template <class Work>
    static void in_lanes(Work&& work) {
        [&]<std::size_t... lane>(std::index_sequence<lane...>) {
            work(std::integral_constant<std::size_t, lane>()...);
        }(std::make_index_sequence<lanes>());
    }

    /// Rows that come next and are fetched meanwhile: the places of their columns in memory, or one place
    /// where all numbers of a row are neighbours. None where a row is long, so that most of it will not be
    /// read.
    struct Ahead {
        const T* rows;
        std::size_t n, stride;
        std::span<const std::uint32_t> offsets;

        std::span<const std::uint32_t> offsets_of(std::size_t row) const {
            return row < n ? offsets : std::span<const std::uint32_t>();
        }
    };

    /// The rows of a block that are on their way.
    struct Walkers {
        std::array<std::uint32_t, block> place;
        std::array<const T*, block> cells;
        std::array<std::uint16_t, block> row;

        void go_down(const NumberTree& tree, std::size_t n, int n_steps, const Ahead& ahead) {
            const std::size_t whole = (n + lanes - 1) / lanes * lanes;
            std::fill(place.begin() + n, place.begin() + whole, std::uint32_t{0});
            std::fill(cells.begin() + n, cells.begin() + whole, cells[0]);
            for (std::size_t i = 0; i < whole; i += lanes) {
                for (const std::uint32_t offset : ahead.offsets_of(i)) {
                    constexpr std::size_t line = 64;
                    const auto* begin =
                        reinterpret_cast<const std::byte*>(ahead.rows + offset) + i * ahead.stride;
                    for (std::size_t at = 0; at < lanes * ahead.stride; at += line) prefetch(begin + at);
                }
                in_lanes([&](auto... lane) {
                    std::array<std::uint32_t, lanes> here{place[i + lane]...};
                    const std::array<const T*, lanes> numbers{cells[i + lane]...};
                    for (int step = 0; step < n_steps; ++step)
                        ((here[lane] = tree.next(here[lane], numbers[lane])), ...);
                    ((place[i + lane] = here[lane]), ...);
                });
            }
        }
        /// How many rows stay.
        std::size_t drop_arrived(const NumberTree& tree, std::size_t n, Places& arrived) {
            std::size_t n_moving = 0;
            for (std::size_t i = 0; i < n; ++i) {
                arrived[row[i]] = place[i];
                const bool is_moving = !tree.is_leaf(place[i]);
                cells[n_moving] = cells[i];
                place[n_moving] = place[i];
                row[n_moving] = row[i];
                n_moving += is_moving;
            }
            return n_moving;
        }
    };

    const T* row(std::size_t i) const {
        return reinterpret_cast<const T*>(data_ + static_cast<std::ptrdiff_t>(i) * stride_);
    }
    std::vector<std::uint32_t> offsets_;  // of the columns from the first in memory, in numbers
    std::vector<std::uint32_t> fetched_;  // the offsets of an `Ahead`
    bool are_neighbours_ = true;          // the numbers of a row
    const std::byte* data_;
    std::ptrdiff_t stride_;
};

}  // namespace treewright
