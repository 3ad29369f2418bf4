// The search of a whole table: a first tree by looking ahead, then the proof.
#include "optimising/optimise.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "optimising/cut_search.hpp"
#include "optimising/packed_search.hpp"
#include "optimising/pair_search.hpp"

namespace treewright::optimising {

namespace {

class Run {
  public:
    Run(const Table& table, const Options& options, std::size_t n_threads, Interrupt& interrupt)
        : table_(table),
          options_(options),
          budget_(interrupt, options.seconds, options.max_work, options.max_bytes),
          pool_(n_threads, interrupt),
          start_(std::chrono::steady_clock::now()) {
        rows_.load(table);
        const std::int64_t most = std::int64_t{1} << std::clamp(options.max_depth, 0, 40);
        max_leaves_ = options.max_leaves > 0 ? std::min(options.max_leaves, most) : most;
    }

    Optimum search(const FoundTree& first) {
        best_ = {leaf_loss(table_, rows_) + options_.leaf_price, {TreeNode{}}};
        take(first);
        note({0, best_.loss});
        if (options_.max_depth < 1 || max_leaves_ < 2)
            note({best_.loss, best_.loss});
        else if (options_.max_depth <= 2)
            search_pairs();
        else
            search_cuts();
        Optimum out;
        out.tree = std::move(best_);
        out.bound = std::min(bound_, out.tree.loss);
        out.history = std::move(history_);
        out.work = budget_.work_done();
        out.stopped = reason(out);
        return out;
    }

  private:
    Ask ask() const { return {options_.max_depth, max_leaves_, options_.min_rows, target()}; }
    /// A bound of so much settles the question; what is equal to the best tree is no better.
    Loss target() const { return best_.loss; }

    void take(const FoundTree& tree) {
        if (tree.nodes.empty()) return;
        const Loss loss = loss_of(tree);
        if (loss < best_.loss) best_ = {loss, tree.nodes};
    }
    /// What a tree loses on the table; no_tree if it does not fit what is asked.
    Loss loss_of(const FoundTree& tree) {
        std::size_t next = 0;
        std::int64_t n_leaves = 0;
        const Loss loss = walk(tree, next, rows_, options_.max_depth, n_leaves);
        return next == tree.nodes.size() && n_leaves <= max_leaves_ ? loss : no_tree;
    }
    Loss walk(const FoundTree& tree, std::size_t& next, const NodeRows& rows, int depth,
              std::int64_t& n_leaves) {
        if (next >= tree.nodes.size()) return no_tree;
        const TreeNode node = tree.nodes[next++];
        if (node.view < 0) {
            ++n_leaves;
            return rows.size() >= options_.min_rows ? leaf_loss(table_, rows) + options_.leaf_price : no_tree;
        }
        if (depth < 1 || static_cast<std::size_t>(node.view) >= rows.n_views()) return no_tree;
        const std::size_t n_left = rows.count_to(static_cast<std::size_t>(node.view), node.code);
        if (n_left == 0 || n_left == rows.size()) return no_tree;
        NodeRows left, right;
        rows.divide(static_cast<std::size_t>(node.view), n_left, left, right);
        const Loss one = walk(tree, next, left, depth - 1, n_leaves),
                   other = walk(tree, next, right, depth - 1, n_leaves);
        return std::min(no_tree, one + other);
    }

    /// Takes the root of the best tree of two levels, and the same for each side.
    FoundTree look_ahead(const NodeRows& rows, int depth) {
        auto pairs = make_pair_search(table_, options_.leaf_price, budget_);
        std::vector<Loss> by_view(rows.n_views(), 0);
        pairs->enter(rows, {2, 4, options_.min_rows, no_tree}, by_view);
        pairs->refine(no_tree, any_effort, by_view);
        FoundTree tree = pairs->tree();
        if (depth <= 2 || tree.nodes.front().view < 0 || budget_.is_spent()) return tree;
        const TreeNode root = tree.nodes.front();
        const auto view = static_cast<std::size_t>(root.view);
        NodeRows left, right;
        rows.divide(view, rows.count_to(view, root.code), left, right);
        FoundTree out{0, {root}};
        for (const NodeRows* side : {&left, &right}) {
            const FoundTree below = look_ahead(*side, depth - 1);
            out.loss += below.loss;
            out.nodes.insert(out.nodes.end(), below.nodes.begin(), below.nodes.end());
        }
        return out;
    }

    /// The views of the root, as bounds: those that it may not test are out of question.
    std::vector<Loss> root_bounds() const {
        std::vector<Loss> by_view(rows_.n_views(), 0);
        for (std::size_t view = 0; view < options_.root_views.size(); ++view)
            if (!options_.root_views[view]) by_view[view] = no_tree;
        return by_view;
    }
    void search_pairs() {
        auto pairs = make_pair_search(table_, options_.leaf_price, budget_);
        auto by_view = root_bounds();
        Ask asked = ask();
        if (options_.max_depth == 1) asked.max_leaves = std::min<std::int64_t>(asked.max_leaves, 2);
        pairs->enter(rows_, asked, by_view);
        take_from(*pairs);
        while (pairs->facts().bound < best_.loss && !is_over()) {
            pairs->refine(best_.loss, 256, by_view);
            take_from(*pairs);
        }
    }
    void search_cuts() {
        const bool is_unlimited = max_leaves_ >= std::int64_t{1} << std::min(options_.max_depth, 40);
        if (is_unlimited && is_packable(table_, options_.min_rows)) return search_packed();
        if (is_unlimited && options_.root_views.empty()) take(look_ahead(rows_, options_.max_depth));
        note({0, best_.loss});
        CutSearch cuts(table_, options_.max_depth, options_.leaf_price, budget_, &pool_);
        auto by_view = root_bounds();
        cuts.enter(rows_, ask(), by_view);
        take_from(cuts);
        while (cuts.facts().bound < best_.loss && !is_over()) {
            cuts.refine(best_.loss, 1, by_view);
            take_from(cuts);
        }
    }
    void search_packed() {
        PackedSearch packed(table_, options_.max_depth, options_.leaf_price, budget_, best_, root_bounds());
        bool goes_on = true;
        while (goes_on && !is_over()) {
            goes_on = packed.step();
            if (packed.tree().loss < best_.loss) best_ = packed.tree();
            note(packed.facts());
        }
    }
    void take_from(NodeSearch& search) {
        const Facts facts = search.facts();
        if (facts.loss < best_.loss) take(search.tree());
        note({std::min(facts.bound, best_.loss), best_.loss});
    }

    bool is_over() {
        return budget_.is_spent() || !budget_.has_work_left() || best_.loss - bound_ <= options_.gap;
    }
    void note(const Facts& facts) {
        const Loss bound = std::max(bound_, facts.bound);
        if (!history_.empty() && bound == bound_ && facts.loss == history_.back().loss) return;
        bound_ = bound;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
        history_.push_back({passed.count(), budget_.work_done(), facts.loss, bound});
        if (options_.now) *options_.now = history_.back();
    }
    Stopped reason(const Optimum& out) {
        if (out.bound >= out.tree.loss) return Stopped::proved;
        if (budget_.was_interrupted()) return Stopped::interrupt;
        if (out.tree.loss - out.bound <= options_.gap) return Stopped::gap;
        if (budget_.ran_out_of_memory()) return Stopped::memory;
        return budget_.has_work_left() ? Stopped::time : Stopped::work;
    }

    const Table& table_;
    const Options& options_;
    Budget budget_;
    Pool pool_;
    std::chrono::steady_clock::time_point start_;
    std::int64_t max_leaves_ = 0;
    NodeRows rows_;
    FoundTree best_;
    Loss bound_ = 0;
    std::vector<Moment> history_;
};

}  // namespace

Optimum optimise(const Table& table, const Options& options, const FoundTree& first, std::size_t n_threads,
                 Interrupt& interrupt) {
    return Run(table, options, n_threads, interrupt).search(first);
}

}  // namespace treewright::optimising
