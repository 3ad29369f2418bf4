// The grower of trees that may test sums of columns: node by node, each by its best column or, where that
// gains clearly more, by the best of the directions that were proposed, turned and made short.
#include "growers/oblique/grower.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "growers/assembly.hpp"
#include "growers/frontier.hpp"
#include "growers/oblique/direction_scan.hpp"
#include "growers/oblique/proposals.hpp"

namespace treewright {

namespace {

/// What a sum's gain counts less for every column after the first.
constexpr double price_of_column = 0.1;
/// A sum of k columns is not tried in a node of fewer than so many rows times k.
constexpr std::size_t rows_per_column = 5;
/// Directions are found by at most so many rows of a node; the best of them are scanned in all.
constexpr std::size_t sample_rows = 4096;
constexpr std::size_t n_turned = 2;
constexpr int n_rounds = 2;
/// What a direction may lose by shorter weights.
constexpr double short_enough = 0.98;

double discount(const Direction& direction) {
    return 1 - price_of_column * static_cast<double>(direction.columns.size() - 1);
}

struct Candidate {
    Direction direction;
    Node cut;

    double score() const { return cut.is_leaf() ? -1.0 : cut.gain * discount(direction); }
};

/// How a node will be cut: by a column as `cut` says, with its categories in `subset`, or by a direction.
struct Choice {
    Node cut;
    std::vector<std::uint8_t> subset;
    Direction direction;
};

class ObliqueGrower {
  public:
    ObliqueGrower(Problem& problem, const Agreement& agreement, const Criterion& criterion,
                  const Combining& combining, Pool& pool)
        : problem_(problem),
          agreement_(agreement),
          limits_(problem.limits),
          criterion_(criterion),
          combining_(combining),
          pool_(pool),
          searches_(pool.size()),
          frontier_(problem.limits.max_splits >= 0) {}

    GrownTree grow() {
        grown_.add(0, static_cast<std::uint32_t>(problem_.rows.size()));
        const bool is_budgeted = limits_.max_splits >= 0;
        open({{0, 0, Random{limits_.seed}.next(), {}}});
        for (std::int64_t n_splits = 0;
             !frontier_.is_empty() && !(is_budgeted && n_splits >= limits_.max_splits);) {
            std::vector<Leaf> chosen;
            if (is_budgeted) {
                chosen.push_back(frontier_.take());
                problem_.interrupt->advance(1);
            } else {
                chosen = frontier_.take_all();
            }
            n_splits += static_cast<std::int64_t>(chosen.size());
            std::vector<Leaf> children;
            for (auto& leaf : chosen) split(leaf, children);
            open(std::move(children));
        }
        GrownTree tree = assemble(problem_, criterion_, grown_, pool_);
        number_directions(tree);
        return tree;
    }

  private:
    /// Calls work(task, thread) for each task: on all threads, or here.
    using Run = std::function<void(std::size_t, const std::function<void(std::size_t, std::size_t)>&)>;

    struct Leaf {
        std::int32_t node;
        std::int64_t depth;
        std::uint64_t key;
        std::optional<Choice> choice;

        double worth() const { return choice->cut.gain; }
        std::int64_t made() const { return node; }
    };

    std::span<Row> rows_of(std::int32_t node) {
        return {problem_.rows.data() + grown_.nodes[node].begin,
                grown_.nodes[node].end - grown_.nodes[node].begin};
    }
    NodeSearch& search(std::size_t thread) {
        if (!searches_[thread])
            searches_[thread] = std::make_unique<NodeSearch>(problem_, agreement_, criterion_);
        return *searches_[thread];
    }

    /// Searches new leaves: one thread on each, or where they are fewer all threads on one after the other.
    void open(std::vector<Leaf>&& leaves) {
        std::erase_if(leaves, [&](const Leaf& leaf) {
            const auto rows = rows_of(leaf.node);
            const bool is_done = !may_split(limits_, rows.size(), leaf.depth) || problem_.is_pure(rows);
            if (is_done) settle(rows.size());
            return is_done;
        });
        if (leaves.size() < pool_.size()) {
            const Run together = [&](std::size_t n, const auto& work) { pool_.run(n, work); };
            for (auto& leaf : leaves) leaf.choice = choose(leaf, together);
        } else {
            pool_.run(leaves.size(), [&](std::size_t task, std::size_t thread) {
                const Run alone = [&](std::size_t n, const auto& work) {
                    for (std::size_t i = 0; i < n; ++i) work(i, thread);
                };
                leaves[task].choice = choose(leaves[task], alone);
            });
        }
        for (auto& leaf : leaves) {
            if (leaf.choice->cut.is_leaf()) {
                settle(rows_of(leaf.node).size());
                continue;
            }
            frontier_.push(std::move(leaf));
        }
    }
    void settle(std::size_t n_rows) {
        if (limits_.max_splits < 0) problem_.interrupt->advance(n_rows);
    }

    Choice choose(const Leaf& leaf, const Run& run) {
        const std::span<const Row> rows = rows_of(leaf.node);
        Choice choice;
        bool is_settled = false;
        run(1, [&](std::size_t, std::size_t thread) {
            std::vector<Row> ordered(rows.begin(), rows.end());
            Nodes nodes = search(thread).by_columns(ordered, leaf.key);
            choice.cut = nodes.nodes[0];
            choice.subset = std::move(nodes.subsets);
            is_settled = !choice.cut.is_leaf() && leaves_no_risk(ordered, nodes);
        });
        if (is_settled || rows.size() < 2 * rows_per_column) return choice;
        Candidate best = best_direction(leaf, rows, run);
        if (best.cut.is_leaf()) return choice;
        if (choice.cut.is_leaf() || is_clearly_better(best, choice.cut)) {
            choice.cut = best.cut;
            choice.subset.clear();
            choice.direction = std::move(best.direction);
        }
        return choice;
    }
    bool leaves_no_risk(std::span<const Row> ordered, const Nodes& nodes) const {
        const Node& left = nodes.nodes[static_cast<std::size_t>(nodes.nodes[0].left)];
        return problem_.is_pure(ordered.first(left.end)) && problem_.is_pure(ordered.subspan(left.end));
    }
    static bool is_clearly_better(const Candidate& candidate, const Node& cut) {
        return candidate.score() > cut.gain && candidate.cut.gain > cut.gain;
    }

    Candidate best_direction(const Leaf& leaf, std::span<const Row> rows, const Run& run) {
        std::vector<Row> sample;
        const std::size_t stride = (rows.size() + sample_rows - 1) / sample_rows;
        for (std::size_t i = 0; i < rows.size(); i += stride) sample.push_back(rows[i]);
        const std::size_t most = std::min(combining_.most, rows.size() / rows_per_column);
        auto candidates = scanned(propose_directions(problem_, columns_of(leaf), most, sample, leaf.key),
                                  sample, stride, run);
        if (candidates.empty()) return {};
        candidates.resize(std::min(n_turned, candidates.size()));
        run(candidates.size(), [&](std::size_t task, std::size_t thread) {
            turn(candidates[task], sample, stride, search(thread));
            shorten(candidates[task], sample, stride, search(thread));
        });
        sort(candidates);
        if (stride > 1) {
            std::vector<Direction> directions;
            for (auto& candidate : candidates) directions.push_back(std::move(candidate.direction));
            candidates = scanned(std::move(directions), rows, 1, run);
        }
        return candidates.empty() ? Candidate{} : std::move(candidates[0]);
    }
    /// The columns that a node may add up: all, or those that it has drawn.
    std::vector<std::int32_t> columns_of(const Leaf& leaf) const {
        if (limits_.max_columns == 0) return combining_.columns;
        auto drawn = column_order(problem_, leaf.key);
        drawn.resize(static_cast<std::size_t>(limits_.max_columns));
        std::sort(drawn.begin(), drawn.end());
        std::vector<std::int32_t> both;
        std::set_intersection(drawn.begin(), drawn.end(), combining_.columns.begin(),
                              combining_.columns.end(), std::back_inserter(both));
        return both;
    }
    /// Directions with their best cuts, the best one first; those without a cut are left out.
    std::vector<Candidate> scanned(std::vector<Direction>&& directions, std::span<const Row> rows,
                                   std::size_t stride, const Run& run) {
        std::vector<Candidate> candidates(directions.size());
        run(directions.size(), [&](std::size_t task, std::size_t thread) {
            candidates[task] = {std::move(directions[task]), {}};
            candidates[task].cut = search(thread).by_direction(candidates[task].direction, rows, stride);
        });
        std::erase_if(candidates, [](const Candidate& candidate) { return candidate.cut.is_leaf(); });
        sort(candidates);
        return candidates;
    }
    static void sort(std::vector<Candidate>& candidates) {
        std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
            return ranked(std::max(0.0, a.score())) > ranked(std::max(0.0, b.score()));
        });
    }

    /// Turns a cut about the ends of one of its columns after the other, as long as that helps.
    void turn(Candidate& candidate, std::span<const Row> rows, std::size_t stride, NodeSearch& search) {
        bool is_better = true;
        for (int round = 0; round < n_rounds && is_better; ++round) {
            is_better = false;
            for (std::size_t place = 0; place < candidate.direction.columns.size(); ++place) {
                const auto [low, high] = range_of(candidate.direction.columns[place], rows);
                for (const bool is_least : {true, false}) {
                    if (!std::isfinite(candidate.cut.low) || !std::isfinite(candidate.cut.high)) return;
                    const double weight = search.best_weight(candidate.direction, candidate.cut, place,
                                                             is_least ? low : high, is_least, rows, stride);
                    Direction turned = candidate.direction;
                    turned.weights[place] = weight;
                    if (weight != 0 && !std::isnan(weight))
                        is_better |= replace(candidate, readable_direction(turned, 2), 1.0 + 1e-9, rows,
                                             stride, search);
                }
            }
        }
    }
    void shorten(Candidate& candidate, std::span<const Row> rows, std::size_t stride, NodeSearch& search) {
        for (const int digits : {0, 1})
            if (replace(candidate, readable_direction(candidate.direction, digits), short_enough, rows,
                        stride, search))
                return;
    }
    /// Takes another direction where its score is at least so many times that of the one at hand.
    static bool replace(Candidate& candidate, Direction&& other, double times, std::span<const Row> rows,
                        std::size_t stride, NodeSearch& search) {
        if (!other.is_sum() || other == candidate.direction) return false;
        Candidate tried{std::move(other), {}};
        tried.cut = search.by_direction(tried.direction, rows, stride);
        if (!(tried.score() > 0 && tried.score() >= times * candidate.score())) return false;
        candidate = std::move(tried);
        return true;
    }
    std::pair<double, double> range_of(std::int32_t column, std::span<const Row> rows) const {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const Row row : rows) {
            const double value = problem_.columns[column].value(row);
            if (!std::isfinite(value)) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        return {low, high};
    }

    /// Calls use(goes_left) with the function that tells whether a row goes left.
    template <class Use>
    auto with_sides(const Choice& choice, Use use) const {
        const Node& cut = choice.cut;
        const auto by_value = [&cut](double value) {
            return std::isnan(value) ? cut.missing_left : value <= cut.low;
        };
        if (choice.direction.is_sum())
            return use([&](Row row) { return by_value(sum_at(choice.direction, problem_.columns, row)); });
        const Column& column = problem_.columns[cut.column];
        if (!column.is_category()) return use([&](Row row) { return by_value(column.value(row)); });
        return use([&](Row row) {
            const auto code = column.code(row);
            return code < 0 ? cut.missing_left : (choice.subset[code / 8] >> (code % 8) & 1) != 0;
        });
    }
    void split(Leaf& leaf, std::vector<Leaf>& children) {
        const Choice& choice = *leaf.choice;
        const auto rows = rows_of(leaf.node);
        const auto middle = with_sides(choice, [&](auto goes_left) {
            return std::stable_partition(rows.begin(), rows.end(), goes_left);
        });
        const std::uint32_t begin = grown_.nodes[leaf.node].begin, end = grown_.nodes[leaf.node].end;
        const auto border = begin + static_cast<std::uint32_t>(middle - rows.begin());
        const std::int32_t left = grown_.add(begin, border);
        grown_.add(border, end);
        Node& node = grown_.nodes[leaf.node];
        node = choice.cut;
        node.begin = begin;
        node.end = end;
        node.left = left;
        if (choice.direction.is_sum()) {
            node.column = static_cast<std::int32_t>(problem_.columns.size() + directions_.size());
            directions_.push_back(choice.direction);
        } else if (node.subset >= 0) {
            node.subset = static_cast<std::int64_t>(grown_.subsets.size());
            grown_.subsets.insert(grown_.subsets.end(), choice.subset.begin(), choice.subset.end());
        }
        for (const bool is_left : {true, false})
            children.push_back({left + !is_left, leaf.depth + 1, Random::child(leaf.key, is_left), {}});
    }
    /// Numbers the directions in the order of the tree; those that are alike are one.
    void number_directions(GrownTree& tree) const {
        const auto first = static_cast<std::int32_t>(problem_.columns.size());
        for (auto& feature : tree.feature) {
            if (feature < first) continue;
            const Direction& direction = directions_[feature - first];
            const auto known = std::find(tree.directions.begin(), tree.directions.end(), direction);
            feature = first + static_cast<std::int32_t>(known - tree.directions.begin());
            if (known == tree.directions.end()) tree.directions.push_back(direction);
        }
    }

    Problem& problem_;
    const Agreement& agreement_;
    const Limits& limits_;
    const Criterion& criterion_;
    const Combining& combining_;
    Pool& pool_;
    std::vector<std::unique_ptr<NodeSearch>> searches_;  // one per thread
    Nodes grown_;
    std::vector<Direction> directions_;
    Frontier<Leaf> frontier_;
};

}  // namespace

GrownTree grow_oblique(Problem& problem, const Criterion& criterion, const Combining& combining, Pool& pool) {
    sort_rows(problem, pool);
    const auto max_splits = static_cast<std::size_t>(problem.limits.max_splits);  // the largest if none
    problem.interrupt->expect(std::min(problem.rows.size(), max_splits));
    const Agreement agreement = agree_on(problem, number_grids(criterion, problem));
    return ObliqueGrower(problem, agreement, criterion, combining, pool).grow();
}

}  // namespace treewright
