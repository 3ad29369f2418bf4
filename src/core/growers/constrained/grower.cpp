// The constrained grower: the frontier of leaves, the search of a node, and what follows a cut.
#include "growers/constrained/grower.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>

#include "growers/constrained/choice.hpp"
#include "growers/constrained/column_lists.hpp"
#include "growers/constrained/column_search.hpp"
#include "growers/constrained/gate.hpp"
#include "growers/constrained/policy.hpp"
#include "growers/constrained/routing.hpp"
#include "growers/frontier.hpp"
#include "growers/significance.hpp"

namespace treewright::constrained {

namespace {

constexpr std::size_t worth_threads = 50000;  // cells of a node; fewer are searched by one thread
/// What sorting the rows of a node by one column takes, in times of dividing a list that is kept.
constexpr std::size_t sorting_cost = 6;

/// A leaf with its rows and its best cut.
struct Leaf {
    Entries entries;
    NodeLists lists;
    std::int32_t node = 0;
    std::int64_t depth = 0;
    std::int64_t place = 0;  // among all leaves, in the order of their making
    std::uint64_t key = 0;   // of the node's random stream
    Path path;
    Bounds bounds;
    Cut cut;

    double worth() const { return cut.score; }
    std::int64_t made() const { return place; }
};

class Grower {
  public:
    Grower(Problem& problem, const Criterion& criterion, const Options& options, Pool& pool)
        : problem_(problem),
          scored_(problem),
          limits_(problem.limits),
          options_(options),
          criterion_(criterion),
          pool_(pool),
          keeps_lists_(limits_.max_columns == 0 ||
                       sorting_cost * static_cast<std::size_t>(limits_.max_columns) > problem.columns.size()),
          root_lists_(keeps_lists_ ? problem.columns.size() : 0),
          policy_(make_policy(problem, options, criterion)),
          ranks_(rank_columns(problem, options.release8, keeps_lists_ ? &root_lists_ : nullptr, pool)),
          rules_(options, problem.columns.size()),
          significance_(scored_),
          surrogates_(task_, pool) {
        if (criterion.by_median) median_weights_ = weight_grid(problem, problem.rows);
        if (options.missing == Missing::fractional) {
            weight_.assign(problem.n_rows, 0.0);
            scored_.targets.weight = weight_.data();
        }
        for (std::size_t thread = 0; thread < pool.size(); ++thread)
            searchers_.push_back(std::make_unique<ColumnSearcher>(task_));
        entered_.assign(pool.size(), 0);
    }

    Grown grow() {
        Leaf root;
        root.entries.ids.resize(problem_.rows.size());
        std::iota(root.entries.ids.begin(), root.entries.ids.end(), Id{0});
        root.lists = std::move(root_lists_);
        root.key = Random{limits_.seed}.next();
        root.node = add_node(root.entries);
        open(std::move(root));
        while (!frontier_.is_empty()) {
            problem_.interrupt->check();
            Leaf leaf = frontier_.take();
            if (fits_budget(leaf.cut))
                split(std::move(leaf));
            else
                close(std::move(leaf));
        }
        return std::move(grown_);
    }

  private:
    bool is_budgeted() const { return limits_.max_splits >= 0; }
    bool fits_budget(const Cut& cut) const {
        const auto n_links = static_cast<std::int64_t>(count_branches(problem_, cut)) - 1;
        return !is_budgeted() || n_steps_ + n_links <= limits_.max_splits;
    }
    std::int32_t add_node(const Entries& entries) {
        grown_.nodes.add(0, 0);
        return grown_.add(entries.size());
    }

    bool may_be_split(const Leaf& leaf) const {
        const std::size_t n = leaf.entries.size();
        if (n < 2 || is_pure(leaf.entries.ids)) return false;
        if (leaf.entries.shares.empty()) return may_split(limits_, n, leaf.depth);
        const double count = view_of(leaf).count() + share_rounding;
        return (limits_.max_depth < 0 || leaf.depth < limits_.max_depth) &&
               count >= static_cast<double>(limits_.min_rows_split) &&
               count / 2 >= static_cast<double>(limits_.min_rows_leaf);
    }
    void open(Leaf&& leaf) {
        leaf.place = n_made_++;
        if (!may_be_split(leaf) || !search(leaf)) return close(std::move(leaf));
        frontier_.push(std::move(leaf));
    }
    void close(Leaf&& leaf) {
        if (!is_budgeted()) {  // progress is told by the rows that have found their leaf
            settled_ += view_of(leaf).count();
            const auto n = static_cast<std::size_t>(settled_);
            problem_.interrupt->advance(n - n_told_);
            n_told_ = n;
        }
        grown_.entries[leaf.node] = std::move(leaf.entries);
    }
    View view_of(const Leaf& leaf) const {
        return {leaf.entries.ids, leaf.entries.shares, &leaf.lists, &leaf.bounds, leaf.key};
    }
    /// See Problem::is_pure.
    bool is_pure(std::span<const Id> ids) const {
        const auto rows = rows_of(problem_, ids);
        if (!problem_.same_target(rows.front(), rows.back())) return false;
        return problem_.targets.n_outputs == 1 ||
               std::ranges::all_of(rows, [&](Row row) { return problem_.same_target(rows.front(), row); });
    }

    /// Finds a leaf's best cut; false where there is none, or none good enough.
    bool search(Leaf& leaf) {
        for (std::size_t i = 0; i < leaf.entries.size() && !weight_.empty(); ++i) {
            const Row row = problem_.rows[leaf.entries.ids[i]];
            weight_[row] = problem_.weight(row) * leaf.entries.share(i);
        }
        ++n_searches_;
        auto columns = rules_.allowed(column_order(problem_, leaf.key), leaf.path);
        std::vector<Cut> cuts;
        if (limits_.max_columns == 0) {
            cuts = search_among(leaf, columns);
        } else {
            const auto n_drawn =
                std::min<std::size_t>(columns.size(), static_cast<std::size_t>(limits_.max_columns));
            std::sort(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(n_drawn));
            cuts = search_among(leaf, std::span(columns).first(n_drawn));
            for (std::size_t i = n_drawn; i < columns.size() && !any_divides(cuts); ++i)
                std::ranges::move(search_among(leaf, std::span(columns).subspan(i, 1)),
                                  std::back_inserter(cuts));
        }
        if (cuts.empty()) return false;
        leaf.cut = choose_cut(task_, std::move(cuts), enter(leaf, 0).weight());
        return leaf.cut.found() && leaf.cut.score >= limits_.min_gain && is_significant(leaf);
    }
    ColumnSearcher& enter(const Leaf& leaf, std::size_t thread) {
        if (std::exchange(entered_[thread], n_searches_) != n_searches_)
            searchers_[thread]->enter(view_of(leaf));
        return *searchers_[thread];
    }
    /// Whether one of the cuts is more than a last resort.
    static bool any_divides(const std::vector<Cut>& cuts) {
        return std::any_of(cuts.begin(), cuts.end(),
                           [](const Cut& cut) { return !cut.split.is_last_resort(); });
    }
    /// The best cuts of some columns, those that have one.
    std::vector<Cut> search_among(const Leaf& leaf, std::span<const std::int32_t> columns) {
        std::vector<Cut> found(columns.size());
        const auto work = [&](std::size_t i, std::size_t thread) {
            problem_.interrupt->check();
            found[i] = enter(leaf, thread).search(columns[i]);
            found[i].score = found[i].split.is_last_resort()
                                 ? found[i].split.rank
                                 : found[i].split.gain / (1 + rules_.price(columns[i], leaf.path));
        };
        if (leaf.entries.size() * columns.size() >= worth_threads && pool_.size() > 1) {
            pool_.run(columns.size(), work);
        } else {
            for (std::size_t i = 0; i < columns.size(); ++i) {
                work(i, 0);
                if (is_settled(leaf, found[i])) break;
            }
        }
        std::erase_if(found, [](const Cut& cut) { return !cut.found(); });
        return found;
    }
    /// Whether no further column can do better: two rows have one cut only, and a cut that leaves no risk is
    /// as good as any. The first column wins a tie.
    bool is_settled(const Leaf& leaf, const Cut& cut) const {
        if (criterion_.by_ratio || !options_.prices.empty() || !cut.found()) return false;
        if (leaf.entries.size() == 2) return true;
        Best best;
        best.noise = cut.noise;
        best.set(cut.split.gain);
        return !best.beaten_by(searchers_[0]->most());
    }
    bool is_significant(const Leaf& leaf) {
        if (limits_.critical.empty()) return true;
        const auto& ids = leaf.entries.ids;
        const auto branch = branches_of(task_, ids, leaf.cut);
        std::vector<std::size_t> known;
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (branch[i] >= 0) known.push_back(i);
        return significance_.passes(
            std::span<const std::size_t>(known), [&](std::size_t i) { return problem_.rows[ids[i]]; },
            [&](std::size_t i) { return branch[i] == 0; });
    }

    void split(Leaf&& leaf) {
        auto branch = branches_of(task_, leaf.entries.ids, leaf.cut);
        if (options_.missing == Missing::surrogate) stand_in(leaf, branch);
        auto children = divide(problem_, leaf.entries, branch, leaf.cut);
        const auto nodes = make_nodes(leaf, children, branch);
        if (is_budgeted()) problem_.interrupt->advance(nodes.size() - 1);
        std::vector<Leaf> leaves(children.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            leaves[i].entries = std::move(children[i]);
            leaves[i].node = nodes[i].node;
            leaves[i].key = nodes[i].key;
            leaves[i].depth = leaf.depth + 1;
            leaves[i].path = rules_.extended(leaf.path, leaf.cut.split.column);
            leaves[i].bounds = leaf.bounds;
        }
        if (!options_.monotone.empty()) tighten(leaf.cut, leaves);
        if (rules_.use(leaf.cut.split.column)) search_again();
        divide_lists(leaf, branch, leaves);
        for (auto& child : leaves) open(std::move(child));
    }
    /// Divides the lists of the columns that the children may still test, or that may stand in for others,
    /// among those of them that can be split.
    void divide_lists(Leaf& leaf, const std::vector<int>& branch, std::vector<Leaf>& leaves) {
        const NodeLists lists = std::move(leaf.lists);
        if (!lists.are_kept() || leaves.size() > most_divided) return;
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < leaves.size(); ++i)
            if (may_be_split(leaves[i])) open.push_back(i);
        if (open.empty()) return;
        for (const auto i : open) leaves[i].lists = NodeLists(problem_.columns.size());
        side_.resize(problem_.rows.size());
        for (std::size_t i = 0; i < branch.size(); ++i)
            side_[leaf.entries.ids[i]] = branch[i] < 0 ? all_branches : static_cast<std::uint8_t>(branch[i]);
        const auto columns = columns_below(leaves[open[0]]);
        const auto work = [&](std::size_t task, std::size_t) {
            if (!lists.has(columns[task])) return;
            std::vector<ColumnList> parts(leaves.size());
            std::vector<ColumnList*> to(leaves.size(), nullptr);
            for (const auto i : open) {
                parts[i] = ColumnList(leaves[i].entries.size());
                to[i] = &parts[i];
            }
            divide_list(lists.of(columns[task]), side_, to);
            for (const auto i : open) leaves[i].lists.put(columns[task], std::move(parts[i]));
        };
        run(leaf.entries.size(), columns.size(), work);
    }
    std::vector<std::int32_t> columns_below(const Leaf& leaf) const {
        std::vector<std::int32_t> all(problem_.columns.size());
        std::iota(all.begin(), all.end(), 0);
        return options_.missing == Missing::surrogate ? all : rules_.allowed(all, leaf.path);
    }
    /// Calls work(column, thread) for some columns of a node: on all threads, or here.
    template <class Work>
    void run(std::size_t n_rows, std::size_t n_columns, Work work) {
        if (n_rows * n_columns >= worth_threads && pool_.size() > 1)
            pool_.run(n_columns, work);
        else
            for (std::size_t i = 0; i < n_columns; ++i) work(i, std::size_t{0});
    }
    /// No further column may be used: leaves that wanted one look for another cut.
    void search_again() {
        for (auto& leaf : frontier_.take_all()) {
            if (search(leaf))
                frontier_.push(std::move(leaf));
            else
                close(std::move(leaf));
        }
    }
    /// Finds the surrogates of a cut and lets them send the rows whose value is missing; what none of them
    /// knows follows the majority.
    void stand_in(Leaf& leaf, std::vector<int>& branch) {
        auto& found = grown_.surrogates[leaf.node];
        found = surrogates_.find(leaf.cut.split.column, view_of(leaf), branch);
        leaf.cut.weights = surrogates_.sides();
        for (std::size_t i = 0; i < branch.size(); ++i)
            for (auto& each : found)
                if (branch[i] < 0) each.narrow(problem_, problem_.rows[leaf.entries.ids[i]]);
        for (std::size_t i = 0; i < branch.size(); ++i) {
            for (auto each = found.begin(); branch[i] < 0 && each != found.end(); ++each)
                branch[i] = each->branch_of(problem_, problem_.rows[leaf.entries.ids[i]]);
            if (branch[i] < 0) branch[i] = static_cast<int>(heaviest_branch(leaf.cut));
        }
    }

    /// A child: its node, and the key of its random stream.
    struct Child {
        std::int32_t node;
        std::uint64_t key;
    };
    /// Makes the nodes of a cut: one with two children, or a chain of them; returns the branches in order.
    std::vector<Child> make_nodes(const Leaf& leaf, const std::vector<Entries>& children,
                                  const std::vector<int>& branch) {
        const Cut& cut = leaf.cut;
        const bool heavier_left = heaviest_branch(cut) == 0;
        const Child top{leaf.node, leaf.key};
        if (cut.form == Cut::Form::two_way) {
            const auto [left, right] =
                cut_node(top, cut.split, heavier_left, children[0].size(), children[1].size());
            return {left, right};
        }
        if (cut.form == Cut::Form::three_way) {
            Split known = cut.split, below = cut.split;
            known.low = known.high = std::numeric_limits<double>::infinity();
            known.missing_left = false;
            below.saw_missing = false;
            const auto [inside, missing] =
                cut_node(top, known, true, children[0].size() + children[1].size(), children[2].size());
            grown_.joined[inside.node] = 1;
            const auto [low, high] = cut_node(inside, below, cut.weights[0] >= cut.weights[1],
                                              children[0].size(), children[1].size());
            return {low, high, missing};
        }
        return make_chain(top, cut, children, branch);
    }
    /// One category after the other is set apart from the rest.
    std::vector<Child> make_chain(Child at, const Cut& cut, const std::vector<Entries>& children,
                                  const std::vector<int>& branch) {
        const int missing_branch =
            cut.split.saw_missing ? cut.missing_branch : static_cast<int>(heaviest_branch(cut));
        // A row that goes down several branches counts once in the rest.
        std::size_t shared = 0, known = 0, n_set_apart = 0;
        for (const int each : branch) ++(each < 0 ? shared : known);
        std::vector<Child> branches;
        for (std::size_t i = 0; i + 1 < children.size(); ++i) {
            Split link = cut.split;
            link.left_codes.clear();
            if (i < cut.split.left_codes.size()) link.left_codes.push_back(cut.split.left_codes[i]);
            link.missing_left = missing_branch == static_cast<int>(i);
            link.saw_missing = true;
            n_set_apart += children[i].size() - shared;
            const std::size_t rest = i + 1 < cut.weights.size() ? known - n_set_apart + shared : 0;
            grown_.joined[at.node] = i > 0;
            const auto [left, right] = cut_node(at, link, false, children[i].size(), rest);
            branches.push_back(left);
            at = right;
        }
        branches.push_back(at);
        return branches;
    }
    std::pair<Child, Child> cut_node(Child at, const Split& split, bool heavier_left, std::size_t n_left,
                                     std::size_t n_right) {
        grown_.nodes.cut(at.node, problem_, split, 0, heavier_left);
        grown_.steps[at.node] = static_cast<std::int32_t>(n_steps_++);
        const auto left = grown_.add(n_left), right = grown_.add(n_right);
        return {{left, Random::child(at.key, true)}, {right, Random::child(at.key, false)}};
    }

    /// A cut of a monotone column bounds what may follow below it: nothing on one side passes the middle of
    /// the two values, or the value of the other side where that is final.
    void tighten(const Cut& cut, std::vector<Leaf>& leaves) const {
        int direction = options_.monotone[cut.split.column];
        constexpr double infinite = std::numeric_limits<double>::infinity();
        if (direction == 0 || cut.split.low == infinite) return;  // known and missing values have no order
        if (problem_.targets.are_classes()) direction = -direction;
        const auto one = value_of(leaves[0].entries), two = value_of(leaves[1].entries);
        const bool first_moves = may_be_split(leaves[0]), second_moves = may_be_split(leaves[1]);
        const double share = first_moves == second_moves ? 0.5 : first_moves ? 0.0 : 1.0;  // of the first
        for (const int side : {0, 1}) {
            Bounds& bounds = leaves[side].bounds;
            if (bounds.low.empty()) {
                bounds.low.assign(one.size(), -infinite);
                bounds.high.assign(one.size(), infinite);
            }
            for (std::size_t i = 0; i < one.size(); ++i) {
                const double border = share * one[i] + (1 - share) * two[i];
                if ((direction > 0) == (side == 0))
                    bounds.high[i] = std::min(bounds.high[i], border);
                else
                    bounds.low[i] = std::max(bounds.low[i], border);
            }
        }
    }
    std::vector<double> value_of(const Entries& entries) const {
        if (criterion_.by_median) {
            const auto rows = rows_of(problem_, entries.ids);
            return {median_number(problem_, median_weights_, std::vector<Row>(rows.begin(), rows.end()), 0)};
        }
        Values values(problem_);
        values.enter(entries.ids);
        std::vector<Sum> sums(values.width(), 0);
        for (const Id id : entries.ids) values.add_to(sums.data(), id);
        std::vector<double> value(values.size());
        values.value_of(sums.data(), value.data());
        return value;
    }

    Problem& problem_;
    Problem scored_;              // the same with the weights of the node at hand
    std::vector<double> weight_;  // by row: times its share in that node; empty: rows are not shared
    const Limits& limits_;
    const Options& options_;
    const Criterion& criterion_;
    Pool& pool_;
    const bool keeps_lists_;  // of columns; otherwise a node sorts its rows by those that it has drawn
    NodeLists root_lists_;
    const std::unique_ptr<Policy> policy_;
    std::vector<Ranks> ranks_;
    Task task_{scored_, options_, criterion_, *policy_, ranks_};
    ColumnRules rules_;
    SignificanceTest significance_;
    SurrogateSearch surrogates_;
    Branches side_;                                           // by id, of the split at hand
    Grid median_weights_;                                     // on which medians weigh rows
    std::vector<std::unique_ptr<ColumnSearcher>> searchers_;  // one per thread
    std::vector<std::uint64_t> entered_;                      // the search for which each was last prepared
    Frontier<Leaf> frontier_{true};
    Grown grown_;
    std::uint64_t n_searches_ = 0;
    std::int64_t n_steps_ = 0, n_made_ = 0;
    double settled_ = 0;
    std::size_t n_told_ = 0;
};

}  // namespace

Tree grow(Problem& problem, const Criterion& criterion, const Options& options, Pool& pool) {
    sort_rows(problem, pool);
    const auto max_splits = static_cast<std::size_t>(problem.limits.max_splits);  // the largest if none
    problem.interrupt->expect(std::min(problem.rows.size(), max_splits));
    Grown grown = Grower(problem, criterion, options, pool).grow();
    return finish(problem, criterion, std::move(grown));
}

}  // namespace treewright::constrained
