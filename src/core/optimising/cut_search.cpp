// A strip is a range of first cuts of one view. Rows left of its first cut are left of all, so what the best
// tree of these rows loses bounds the left side of every cut in the strip, and in the same way on the right.
// A strip is cut at its middle: the bounds of both sides there are those of the two halves, and may settle
// one of them.
#include "optimising/cut_search.hpp"

#include <cstddef>
#include <utility>

#include "optimising/pair_search.hpp"

namespace treewright::optimising {

namespace {

/// What is known at one cut: bounds of both sides, of all trees and of those that test each view first.
struct End {
    std::size_t place = 0;
    Loss left = 0, right = 0;
    std::vector<Loss> left_by_view, right_by_view;
};

/// Cuts of a view from row `low` to row `high` of its list, as far as they are cuts.
struct Strip {
    Loss bound = 0;
    std::size_t view = 0, low = 0, high = 0;
    std::shared_ptr<const End> before, after;  // at or left of `low`, at or right of `high`
    std::int64_t left_leaves = 0, right_leaves = 0;
    std::int64_t effort = 0;

    bool operator<(const Strip& other) const {  // the weakest is on top of a heap
        if (bound != other.bound) return bound > other.bound;
        if (view != other.view) return view > other.view;
        if (low != other.low) return low > other.low;
        return left_leaves > other.left_leaves;
    }
};

/// What a thread needs to try a cut.
struct Bench {
    NodeRows left, right;
    std::unique_ptr<NodeSearch> left_search, right_search;
};

struct Outcome {
    bool is_tried = false;
    std::size_t place = 0;  // none where 0
    std::shared_ptr<End> end;
    Loss bound = 0;  // of the cut itself
    FoundTree tree;  // where it is better than what was known
};

}  // namespace

class CutSearch::Strips {
  public:
    Strips(const Table& table, int depth, Loss leaf_price, Budget& budget, Pool* pool)
        : table_(table),
          depth_(depth),
          price_(leaf_price),
          budget_(budget),
          pool_(pool),
          benches_(pool ? pool->size() : 1) {
        for (auto& bench : benches_) {
            bench.left_search = make_search(table, depth - 1, leaf_price, budget);
            bench.right_search = make_search(table, depth - 1, leaf_price, budget);
        }
    }

    void enter(const NodeRows& rows, const Ask& ask, std::vector<Loss>& by_view) {
        rows_ = &rows;
        ask_ = ask;
        heap_.clear();
        settled_.assign(rows.n_views(), no_tree);
        sum_weights();
        best_ = {leaf_loss(table_, rows) + price_, {TreeNode{}}};
        const std::size_t n = rows.size();
        const auto first = std::make_shared<End>(), last = std::make_shared<End>();
        last->place = n;
        for (auto* end : {first.get(), last.get()}) {
            end->left_by_view.assign(rows.n_views(), 0);
            end->right_by_view.assign(rows.n_views(), 0);
        }
        for (std::size_t view = 0; view < rows.n_views(); ++view) {
            const auto list = rows.list(view);
            if (n < 2 || list.front().code == list.back().code) {
                settled_[view] = constant;
                continue;
            }
            if (by_view[view] >= limit(ask.target)) {
                settled_[view] = by_view[view];
                continue;
            }
            for_each_share([&](std::int64_t left, std::int64_t right) {
                heap_.push_back({std::max(by_view[view], 2 * price_), view, 1, n - 1, first, last, left,
                                 right, first_effort});
            });
        }
        std::make_heap(heap_.begin(), heap_.end());
        raise(by_view);
    }

    void refine(Loss target, std::int64_t effort, std::vector<Loss>& by_view) {
        std::vector<Strip> round;
        std::vector<Outcome> outcomes;
        const std::size_t most = pool_ ? strips_of_a_round : 1;
        while (effort > 0 && budget_.has_work_left() && !budget_.is_spent()) {
            round.clear();
            while (round.size() < most && !heap_.empty() && heap_.front().bound < limit(target)) {
                std::pop_heap(heap_.begin(), heap_.end());
                round.push_back(std::move(heap_.back()));
                heap_.pop_back();
            }
            if (round.empty()) break;
            outcomes.assign(round.size(), {});
            const Loss wanted = limit(target);
            const auto work = [&](std::size_t i, std::size_t thread) {
                outcomes[i] = try_strip(round[i], wanted, benches_[thread]);
            };
            try {
                if (pool_)
                    pool_->run(round.size(), work);
                else
                    work(0, 0);
            } catch (const Interrupted&) {
                budget_.interrupt();
            }
            for (std::size_t i = 0; i < round.size(); ++i) {
                if (outcomes[i].is_tried)
                    merge(round[i], outcomes[i], target);
                else
                    put(std::move(round[i]), target);
            }
            effort -= static_cast<std::int64_t>(round.size());
            budget_.hold(bytes());
        }
        raise(by_view);
    }

    Facts facts() const {
        Loss bound = best_.loss;
        if (!heap_.empty()) bound = std::min(bound, heap_.front().bound);
        for (const Loss settled : settled_) bound = std::min(bound, settled);
        return {bound, best_.loss};
    }
    const FoundTree& tree() const { return best_; }
    void offer(FoundTree&& tree) {
        if (tree.loss < best_.loss) best_ = std::move(tree);
    }

  private:
    /// About what the heap takes: strips, and two ends with four bounds a view for every second one.
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(heap_.size() * (sizeof(Strip) + 16 * rows_->n_views()));
    }
    static constexpr std::size_t strips_of_a_round = 8;
    static constexpr std::int64_t first_effort = 64;
    /// Of a view that cannot divide the rows, of which nothing follows for more rows.
    static constexpr Loss constant = no_tree + 1;

    Loss limit(Loss target) const { return std::min(target, best_.loss); }

    /// How many leaves both sides may have.
    template <class Work>
    void for_each_share(Work work) const {
        const std::int64_t most = std::int64_t{1} << std::min(depth_ - 1, 40);
        if (ask_.max_leaves >= 2 * most) return work(most, most);
        for (std::int64_t left = std::max<std::int64_t>(1, ask_.max_leaves - most);
             left <= std::min(most, ask_.max_leaves - 1); ++left)
            work(left, ask_.max_leaves - left);
    }

    Loss most_gain(std::size_t row) const {
        return table_.most_gain(static_cast<std::size_t>(rows_->target(row)), rows_->weight(row));
    }
    /// What the rows of a view's list before each place could lose at the most.
    void sum_weights() {
        passed_.assign(rows_->n_views(), {});
        if (table_.are_numbers() || (!table_.has_gains() && !rows_->is_weighted())) return;
        for (std::size_t view = 0; view < rows_->n_views(); ++view) {
            passed_[view].assign(rows_->size() + 1, 0);
            const auto list = rows_->list(view);
            for (std::size_t i = 0; i < list.size(); ++i)
                passed_[view][i + 1] = passed_[view][i] + most_gain(list[i].row);
        }
    }
    /// What rows that change sides can lose more; of numbers, nothing bounds that.
    Loss between(std::size_t view, std::size_t low, std::size_t high) const {
        if (table_.are_numbers()) return low < high ? no_tree : 0;
        if (passed_[view].empty()) return static_cast<Loss>(high - low);
        return passed_[view][high] - passed_[view][low];
    }

    /// Bounds that the ends of a strip hand on to a cut between them: of more rows no less is lost, and of
    /// fewer rows less by no more than those weigh.
    void hand_on(const Strip& strip, std::size_t place, End& end) const {
        const Loss to_after = between(strip.view, place, strip.after->place),
                   to_before = between(strip.view, strip.before->place, place);
        const std::size_t n = rows_->n_views();
        end.place = place;
        end.left_by_view.resize(n);
        end.right_by_view.resize(n);
        for (std::size_t view = 0; view < n; ++view) {
            end.left_by_view[view] =
                std::max(strip.before->left_by_view[view], strip.after->left_by_view[view] - to_after);
            end.right_by_view[view] =
                std::max(strip.after->right_by_view[view], strip.before->right_by_view[view] - to_before);
        }
        end.left = std::max(strip.before->left, strip.after->left - to_after);
        end.right = std::max(strip.after->right, strip.before->right - to_before);
    }
    Outcome try_strip(const Strip& strip, Loss wanted, Bench& bench) const {
        Outcome out;
        out.place = rows_->middle_cut(strip.view, strip.low, strip.high);
        if (out.place == 0) {
            out.is_tried = true;
            return out;
        }
        budget_.work(1);
        out.end = std::make_shared<End>();
        End& end = *out.end;
        hand_on(strip, out.place, end);
        rows_->divide(strip.view, out.place, bench.left, bench.right);
        NodeSearch &left = *bench.left_search, &right = *bench.right_search;
        // With these bounds both halves of the strip are settled.
        const Loss left_target = wanted - strip.after->right, right_target = wanted - strip.before->left;
        left.enter(bench.left, {depth_ - 1, strip.left_leaves, 1, left_target}, end.left_by_view);
        end.left = std::max(end.left, left.facts().bound);
        right.enter(bench.right, {depth_ - 1, strip.right_leaves, 1, right_target}, end.right_by_view);
        end.right = std::max(end.right, right.facts().bound);
        const Loss margin = 3 * between(strip.view, strip.low, strip.high) / 10;
        bool is_left_next = bench.left.size() >= bench.right.size();
        for (int turn = 0; turn < 3 && end.left + end.right < wanted; ++turn, is_left_next = !is_left_next) {
            if (is_left_next) {
                left.refine(std::min(left_target, wanted - end.right + margin), strip.effort,
                            end.left_by_view);
                end.left = std::max(end.left, left.facts().bound);
            } else {
                right.refine(std::min(right_target, wanted - end.left + margin), strip.effort,
                             end.right_by_view);
                end.right = std::max(end.right, right.facts().bound);
            }
        }
        out.bound = end.left + end.right;
        if (ask_.min_rows > 1 && out.bound < wanted)
            ask_again(strip, wanted, bench, out);
        else if (left.facts().loss + right.facts().loss < wanted)
            out.tree = joined(strip.view, out.place, left, right);
        out.is_tried = true;
        return out;
    }
    /// The cut alone, with leaves as large as asked for. The bounds that other cuts inherit must do without.
    void ask_again(const Strip& strip, Loss wanted, Bench& bench, Outcome& out) const {
        if (std::min(bench.left.size(), bench.right.size()) < ask_.min_rows) {
            out.bound = no_tree;
            return;
        }
        NodeSearch &left = *bench.left_search, &right = *bench.right_search;
        std::vector<Loss> left_by_view = out.end->left_by_view, right_by_view = out.end->right_by_view;
        left.enter(bench.left, {depth_ - 1, strip.left_leaves, ask_.min_rows, wanted - out.end->right},
                   left_by_view);
        left.refine(wanted - out.end->right, strip.effort, left_by_view);
        out.bound = left.facts().bound + out.end->right;
        if (out.bound >= wanted) return;
        const Loss rest = wanted - left.facts().bound;
        right.enter(bench.right, {depth_ - 1, strip.right_leaves, ask_.min_rows, rest}, right_by_view);
        right.refine(rest, strip.effort, right_by_view);
        out.bound = left.facts().bound + right.facts().bound;
        if (left.facts().loss + right.facts().loss < wanted)
            out.tree = joined(strip.view, out.place, left, right);
    }
    FoundTree joined(std::size_t view, std::size_t place, NodeSearch& left, NodeSearch& right) const {
        FoundTree below[2] = {left.tree(), right.tree()}, out;
        out.loss = below[0].loss + below[1].loss;
        out.nodes.push_back({static_cast<std::int32_t>(view), rows_->list(view)[place - 1].code});
        for (const auto& tree : below)
            out.nodes.insert(out.nodes.end(), tree.nodes.begin(), tree.nodes.end());
        return out;
    }

    void merge(const Strip& strip, Outcome& outcome, Loss target) {
        if (outcome.place == 0) return;  // no cuts
        if (!outcome.tree.nodes.empty()) offer(std::move(outcome.tree));
        const End& end = *outcome.end;
        const Loss here = end.left + end.right, wanted = limit(target);
        if (outcome.bound >= wanted)
            settled_[strip.view] = std::min(settled_[strip.view], outcome.bound);
        else
            put({outcome.bound, strip.view, outcome.place, outcome.place, outcome.end, outcome.end,
                 strip.left_leaves, strip.right_leaves, 4 * strip.effort},
                target);
        const Loss slack = std::max<Loss>(0, here - wanted);
        std::size_t low = outcome.place, high = outcome.place;
        while (low > strip.low && between(strip.view, low - 1, outcome.place) <= slack) --low;
        while (high < strip.high && between(strip.view, outcome.place, high + 1) <= slack) ++high;
        if (low > strip.low) {
            Strip part = strip;
            part.high = low - 1;
            part.after = outcome.end;
            put(std::move(part), target);
        }
        if (high < strip.high) {
            Strip part = strip;
            part.low = high + 1;
            part.before = outcome.end;
            put(std::move(part), target);
        }
    }
    void put(Strip&& strip, Loss target) {
        strip.bound = std::max(strip.bound, strip.before->left + strip.after->right);
        if (strip.bound >= limit(target)) {
            settled_[strip.view] = std::min(settled_[strip.view], strip.bound);
            return;
        }
        heap_.push_back(std::move(strip));
        std::push_heap(heap_.begin(), heap_.end());
    }
    void raise(std::vector<Loss>& by_view) const {
        std::vector<Loss> own = settled_;
        for (const auto& strip : heap_) own[strip.view] = std::min(own[strip.view], strip.bound);
        for (std::size_t view = 0; view < own.size(); ++view)
            if (own[view] != constant) by_view[view] = std::max(by_view[view], own[view]);
    }

    const Table& table_;
    const int depth_;
    const Loss price_;
    Budget& budget_;
    Pool* const pool_;
    mutable std::vector<Bench> benches_;
    const NodeRows* rows_ = nullptr;
    Ask ask_;
    std::vector<Strip> heap_;
    std::vector<Loss> settled_;
    std::vector<std::vector<Loss>> passed_;
    FoundTree best_;
};

CutSearch::CutSearch(const Table& table, int depth, Loss leaf_price, Budget& budget, Pool* pool)
    : strips_(new Strips(table, depth, leaf_price, budget, pool)) {}
CutSearch::~CutSearch() = default;
void CutSearch::enter(const NodeRows& rows, const Ask& ask, std::vector<Loss>& by_view) {
    strips_->enter(rows, ask, by_view);
}
void CutSearch::refine(Loss target, std::int64_t effort, std::vector<Loss>& by_view) {
    strips_->refine(target, effort, by_view);
}
Facts CutSearch::facts() const { return strips_->facts(); }
FoundTree CutSearch::tree() { return strips_->tree(); }

std::unique_ptr<NodeSearch> make_search(const Table& table, int depth, Loss leaf_price, Budget& budget) {
    if (depth <= 2) return make_pair_search(table, leaf_price, budget);
    return std::make_unique<CutSearch>(table, depth, leaf_price, budget);
}

}  // namespace treewright::optimising
