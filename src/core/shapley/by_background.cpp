// Exact Shapley values of a tree's answers against a background of other rows.
//
// For a row and one row of the background each set of columns that takes the row's values, while the others
// take the background's, leads to one leaf. A leaf is reached by the sets that hold all columns by which only
// the row turns towards it, and none of those by which only the other does: how many of each decide the
// Shapley weights.
#include <array>
#include <optional>

#include "shapley/patterns.hpp"
#include "shapley/shapley.hpp"
#include "shapley/ways.hpp"

namespace treewright {

namespace {

/// (a − 1)! b! / (a + b)!, the Shapley weight of one of `a` columns that lead to a leaf by the row's values
/// only, while `b` lead there by the background's only; 0 without any.
class PairWeights {
  public:
    double operator()(std::size_t a, std::size_t b) const {
        return a < size && b < size ? table_[a][b] : made(a, b);
    }

  private:
    static constexpr std::size_t size = 32;
    static double made(std::size_t a, std::size_t b) {
        if (a == 0) return 0;
        double ways = static_cast<double>(a);  // a · (a + b choose b)
        for (std::size_t i = 1; i <= std::min(a, b); ++i)
            ways = ways * static_cast<double>(a + b - std::min(a, b) + i) / static_cast<double>(i);
        return 1 / ways;
    }
    const std::array<std::array<double, size>, size> table_ = [] {
        std::array<std::array<double, size>, size> table;
        for (std::size_t a = 0; a < size; ++a)
            for (std::size_t b = 0; b < size; ++b) table[a][b] = made(a, b);
        return table;
    }();
};

/// One thread's walks for pairs of a row and a row of the background: where both turn alike there is one way
/// to go, where they differ two, and below them the column is decided.
class PairWalk {
  public:
    PairWalk(const TreeView& tree, const Ways& ways, const Wanted& wanted, const PairWeights& weights)
        : tree_(tree),
          ways_(ways),
          wanted_(wanted),
          weights_(weights),
          width_(wanted.size()),
          decided_(ways.columns.size(), Side::none),
          gets_(width_),
          owes_(width_) {}

    /// Adds the pair's part, `share` of the whole, to found[slot][number].
    void run(Pattern row, Pattern other, double share, double* found) {
        std::size_t by_row = 0, by_other = 0;
        for (std::int32_t node = 0; node >= 0;) {
            node = leaf_from(node, row, other, by_row);
            const double* answer = wanted_.values.data() + ways_.place[node] * width_;
            const double gets = share * weights_(by_row, by_other),
                         owes = -share * weights_(by_other, by_row);
            for (std::size_t i = 0; i < width_; ++i) {
                gets_[i] = gets * answer[i];
                owes_[i] = owes * answer[i];
            }
            node = go_up(other, by_row, by_other, found);
        }
    }

  private:
    enum class Side : std::uint8_t { none, row, other };
    struct Fork {
        std::int32_t node;
        bool is_second;
    };

    /// Down to a leaf; where the two part, by the row's turn first.
    std::int32_t leaf_from(std::int32_t node, Pattern row, Pattern other, std::size_t& by_row) {
        while (ways_.slot[node] >= 0) {
            const std::size_t branch = ways_.place[node];
            bool left = goes_left(row, branch);
            if (left != goes_left(other, branch)) {
                Side& side = decided_[ways_.slot[node]];
                if (side == Side::other) {
                    left = !left;
                } else if (side == Side::none) {
                    side = Side::row;
                    ++by_row;
                    forks_.push_back({node, false});
                    waiting_.resize(forks_.size() * 2 * width_);
                }
            }
            node = left ? node + 1 : tree_.end[node + 1];
        }
        return node;
    }

    /// Back to the last fork with a way that is still to be gone, and into it; −1 where there is none.
    std::int32_t go_up(Pattern other, std::size_t& by_row, std::size_t& by_other, double* found) {
        while (!forks_.empty()) {
            Fork& fork = forks_.back();
            const std::size_t slot = ways_.slot[fork.node];
            double* due = found + slot * width_;
            double* first = waiting_.data() + (forks_.size() - 1) * 2 * width_;
            if (!fork.is_second) {
                for (std::size_t i = 0; i < width_; ++i) due[i] += gets_[i];
                std::copy(gets_.begin(), gets_.end(), first);
                std::copy(owes_.begin(), owes_.end(), first + width_);
                fork.is_second = true;
                decided_[slot] = Side::other;
                --by_row;
                ++by_other;
                const bool left = goes_left(other, ways_.place[fork.node]);
                return left ? fork.node + 1 : tree_.end[fork.node + 1];
            }
            for (std::size_t i = 0; i < width_; ++i) {
                due[i] += owes_[i];
                gets_[i] += first[i];
                owes_[i] += first[width_ + i];
            }
            decided_[slot] = Side::none;
            --by_other;
            forks_.pop_back();
        }
        return -1;
    }

    const TreeView& tree_;
    const Ways& ways_;
    const Wanted& wanted_;
    const PairWeights& weights_;
    std::size_t width_;
    std::vector<Side> decided_;  // by slot: whose values lead on, where they part
    std::vector<Fork> forks_;
    std::vector<double> waiting_, gets_,
        owes_;  // of the first ways of the forks; of all below the present node
};

/// A portion of the background: its patterns, and the weight of each.
struct Others {
    Patterns patterns;
    std::vector<double> share;

    Others(const TreeView& tree, const Ways& ways, const std::vector<Column>& columns,
           std::span<const double> weight, std::size_t first, std::size_t n, Pool& pool, Interrupt& interrupt)
        : patterns(tree, ways.branches, columns, first, n, pool, interrupt), share(patterns.size()) {
        for (std::size_t row = 0; row < n; ++row) share[patterns.of_row()[row]] += weight[first + row];
    }
};

}  // namespace

void shapley_by_background(const TreeView& tree, const LeafAnswers& answers,
                           const std::vector<Column>& columns, std::size_t n_rows,
                           const std::vector<Column>& background, std::span<const double> background_weight,
                           double* out, Pool& pool, Interrupt& interrupt) {
    const Ways ways(tree);
    const Wanted wanted(answers);
    if (ways.branches.empty() || wanted.size() == 0) return;
    // A portion of the background at a time; where all of it is one portion, it is asked only once.
    const std::size_t n_others = background_weight.size(), portion = rows_in_portion(ways, 8);
    const auto from = [&](std::size_t first) {
        return Others(tree, ways, background, background_weight, first, std::min(portion, n_others - first),
                      pool, interrupt);
    };
    const std::optional<Others> all = n_others <= portion ? std::optional(from(0)) : std::nullopt;
    const PairWeights weights;
    in_portions(tree, ways, wanted, answers.width, columns, n_rows, out, pool, interrupt,
                [&](const Patterns& patterns, double* found, std::size_t length) {
                    std::vector<PairWalk> walks(pool.size(), PairWalk(tree, ways, wanted, weights));
                    const auto pair_with = [&](const Others& others) {
                        pool.run(patterns.size(), [&](std::size_t i, std::size_t thread) {
                            for (std::size_t other = 0; other < others.patterns.size(); ++other) {
                                if (other % 16 == 0) interrupt.check();
                                walks[thread].run(patterns[i], others.patterns[other], others.share[other],
                                                  found + i * length);
                            }
                        });
                    };
                    if (all) return pair_with(*all);
                    for (std::size_t first = 0; first < n_others; first += portion) pair_with(from(first));
                });
}

}  // namespace treewright
