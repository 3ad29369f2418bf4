// What searches of a node have in common.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "optimising/rows.hpp"
#include "optimising/table.hpp"
#include "support/threads.hpp"

namespace treewright::optimising {

/// As a bound: there is no such tree.
constexpr Loss no_tree = std::int64_t{1} << 60;

/// What a search of a node is asked: trees of so many levels and leaves.
struct Ask {
    int depth = 2;
    std::int64_t max_leaves = 4;
    std::size_t min_rows = 1;  // of a leaf
    Loss target = no_tree;     // a bound of so much is enough
};

/// What is known of a node: no tree loses less than `bound`, and one loses `loss`.
struct Facts {
    Loss bound = 0, loss = no_tree;
    bool is_proved() const { return bound >= loss; }
};

/// The end of all work.
class Budget {
  public:
    Budget(Interrupt& interrupt, double seconds, std::int64_t max_work, std::int64_t max_bytes)
        : interrupt_(interrupt),
          max_work_(max_work),
          max_bytes_(max_bytes),
          end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)))) {}

    /// Whether time is up; asked between pieces of work of some milliseconds at the most.
    bool is_spent() {
        if (is_spent_) return true;
        try {
            interrupt_.check();
        } catch (const Interrupted&) {
            interrupt();
            return true;
        }
        if (Clock::now() >= end_) is_spent_ = true;
        return is_spent_;
    }
    void interrupt() { was_interrupted_ = is_spent_ = true; }
    bool was_interrupted() const { return was_interrupted_; }
    void work(std::int64_t some) { work_.fetch_add(some, std::memory_order_relaxed); }
    std::int64_t work_done() const { return work_; }
    /// Keeps count of what the open questions of a search take.
    void hold(std::int64_t bytes) {
        if (max_bytes_ >= 0 && bytes > max_bytes_) ran_out_of_memory_ = is_spent_ = true;
    }
    bool ran_out_of_memory() const { return ran_out_of_memory_; }
    bool has_work_left() const { return max_work_ < 0 || work_ < max_work_; }

  private:
    using Clock = std::chrono::steady_clock;
    Interrupt& interrupt_;
    std::int64_t max_work_, max_bytes_;
    Clock::time_point end_;
    std::atomic<bool> is_spent_{false}, was_interrupted_{false}, ran_out_of_memory_{false};
    std::atomic<std::int64_t> work_{0};
};

/// Trees of one node after the other.
class NodeSearch {
  public:
    virtual ~NodeSearch() = default;
    /// A first bound. `by_view` holds for each view what no tree that tests it first can beat, and is raised;
    /// a view whose bound reaches the target is not looked at.
    virtual void enter(const NodeRows& rows, const Ask& ask, std::vector<Loss>& by_view) = 0;
    /// Works until the bound reaches `target`, which is not above that of `enter`, or so many cuts were
    /// tried.
    virtual void refine(Loss target, std::int64_t effort, std::vector<Loss>& by_view) = 0;
    virtual Facts facts() const = 0;
    /// A tree that loses no more than the loss found.
    virtual FoundTree tree() = 0;
};

constexpr std::int64_t any_effort = std::numeric_limits<std::int64_t>::max();

}  // namespace treewright::optimising
