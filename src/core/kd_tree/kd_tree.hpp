// A k-d tree: points in the order of its leaves, and the cuts that lead to them.
//
// x[column] < cut goes left, the rest goes right. Nodes are in preorder: the left child of i is i + 1. The
// points of a leaf lie together, column by column, so that their distances are computed side by side.
//
// In a spill tree a half also keeps guests, points near the cut that belong to the other half. Each point is
// at home in one leaf: exact search looks at those at home only, defeatist search at the guests, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "support/threads.hpp"

namespace treewright {

inline constexpr std::uint32_t no_column = std::numeric_limits<std::uint32_t>::max();

template <class T>
struct KDNode {
    T cut;
    T low;                 // the greatest x[column] of the points that are at home on the left
    std::uint32_t column;  // `no_column` in a leaf
    std::uint32_t right;   // the right child; in a leaf its number among the leaves
};

struct KDLeaf {
    std::uint32_t begin;  // its first point, in the order of the leaves
    std::uint32_t home;   // how many points are at home here; they come first
    std::uint32_t size;   // with guests
};

enum class KDRule { widest, cycle };

struct KDOptions {
    std::size_t leaf_size = 40;
    KDRule rule = KDRule::widest;
    double spill = 0.0;  // the share of a node that each half takes over from the other
};

/// An array that is written before it is read: nobody fills it with zeros first.
template <class T>
class Uninitialised {
  public:
    Uninitialised() = default;
    explicit Uninitialised(std::size_t size) : data_(new T[size]), size_(size) {}
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const { return data_[i]; }

  private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
};

template <class T>
struct KDTree {
    std::size_t n_points = 0, n_columns = 0, depth = 0;
    std::vector<KDNode<T>> nodes;
    std::vector<KDLeaf> leaves;
    Uninitialised<T> coordinates;  // of a leaf: n_columns runs of `size` values from begin * n_columns on
    Uninitialised<std::uint32_t> index;  // which point stands at each place
    std::vector<T> lowest, highest;      // of each column
};

/// A number that is not finite, and where.
struct NotFinite : std::invalid_argument {
    NotFinite(std::size_t at_row, std::size_t at_column)
        : std::invalid_argument("a coordinate is not finite"), row(at_row), column(at_column) {}
    std::size_t row, column;
};

/// The tree of n_points x n_columns finite numbers, row by row. It depends on nothing else: not on the
/// threads.
template <class T>
KDTree<T> build_kd_tree(const T* points, std::size_t n_points, std::size_t n_columns,
                        const KDOptions& options, Pool& pool, Interrupt& interrupt);

/// Throws NotFinite for the first number that is not.
template <class T>
void refuse_not_finite(const T* rows, std::size_t n_rows, std::size_t n_columns, Pool& pool);

/// Calls work with the number of columns as a constant where it is small, and with zero where it is not.
template <class Work>
decltype(auto) with_few_columns(std::size_t n_columns, Work&& work) {
    switch (n_columns) {
        case 1:
            return work(std::integral_constant<std::size_t, 1>{});
        case 2:
            return work(std::integral_constant<std::size_t, 2>{});
        case 3:
            return work(std::integral_constant<std::size_t, 3>{});
        case 4:
            return work(std::integral_constant<std::size_t, 4>{});
        default:
            return work(std::integral_constant<std::size_t, 0>{});
    }
}

/// Runs work(first, last, task) over all rows, a portion at a time.
template <class Work>
void in_portions(std::size_t n_rows, std::size_t portion, Pool& pool, Work work) {
    pool.run((n_rows + portion - 1) / portion, [&](std::size_t task, std::size_t) {
        work(task * portion, std::min(n_rows, (task + 1) * portion), task);
    });
}

}  // namespace treewright
