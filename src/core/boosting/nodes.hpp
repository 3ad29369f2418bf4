// The nodes of a tree while it grows, and where their rows lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "boosting/division.hpp"
#include "boosting/splits.hpp"
#include "data/columns.hpp"
#include "growers/frontier.hpp"
#include "support/unfilled.hpp"

namespace treewright::boosting {

struct BoostedNode {
    Segment rows, validation;
    std::int64_t depth = 0;
    NodeSums sums;
    std::uint64_t key = 0;
    std::vector<std::uint32_t> groups;  // those that have all columns of its path
    BoostedSplit split;
    std::int32_t left = -1;  // the right child follows it
    std::int32_t step = -1;  // when it was split; -1: not yet
    std::int32_t made = 0;   // when it was made; its sibling has the same
    bool is_searched = true;
    std::size_t histogram = no_histogram;

    static constexpr std::size_t no_histogram = static_cast<std::size_t>(-1);
};

/// A node that waits to be split.
struct OpenNode {
    double gain;
    std::int32_t node;
    std::int64_t order;

    OpenNode(const BoostedNode& from, std::int32_t index, bool is_right)
        : gain(from.split.gain), node(index), order(2 * std::int64_t{from.made} + (is_right ? 1 : 0)) {}
    double worth() const { return gain; }
    std::int64_t made() const { return order; }
};

using OpenNodes = Frontier<OpenNode, &unrounded>;

/// The rows of nodes of even and of odd depth: a node's are divided from the one to the other, so that those
/// of a node stay where they are until its grandchildren are made.
class RowOrders {
  public:
    RowOrders(std::size_t first, std::size_t n)
        : first_(first), n_(n), orders_{UnfilledVector<Row>(n), UnfilledVector<Row>(n)} {}

    std::size_t size() const { return n_; }
    /// Puts the rows in the order of the table.
    void reset() { std::iota(orders_[0].data(), orders_[0].data() + n_, static_cast<Row>(first_)); }
    Row* of(const BoostedNode& node) { return at(node.depth); }
    const Row* of(const BoostedNode& node) const {
        return orders_[static_cast<std::size_t>(node.depth) % 2].data();
    }
    Row* of_children(const BoostedNode& node) { return at(node.depth + 1); }

  private:
    Row* at(std::int64_t depth) { return orders_[static_cast<std::size_t>(depth) % 2].data(); }

    std::size_t first_, n_;
    std::array<UnfilledVector<Row>, 2> orders_;
};

/// Histograms of nodes, which are used again; as many as memory allows.
template <class Entry>
class HistogramStore {
  public:
    explicit HistogramStore(std::size_t size)
        : size_(size),
          most_(std::max<std::size_t>(3, most_bytes / std::max<std::size_t>(size * sizeof(Entry), 1))) {}

    /// Takes all of them back.
    void reset() {
        free_.resize(histograms_.size());
        std::iota(free_.begin(), free_.end(), std::size_t{0});
    }
    std::size_t n_left() const { return free_.size() + most_ - std::min(most_, histograms_.size()); }
    void give_to(BoostedNode& node) {
        if (free_.empty()) {
            free_.push_back(histograms_.size());
            histograms_.emplace_back(size_);
        }
        node.histogram = free_.back();
        free_.pop_back();
    }
    void take_back(BoostedNode& node) {
        if (node.histogram != BoostedNode::no_histogram) free_.push_back(node.histogram);
        node.histogram = BoostedNode::no_histogram;
    }
    Entry* of(const BoostedNode& node) { return histograms_[node.histogram].data(); }

  private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 29;

    std::size_t size_, most_;
    std::vector<std::vector<Entry>> histograms_;
    std::vector<std::size_t> free_;
};

}  // namespace treewright::boosting
