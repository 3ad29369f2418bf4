// Searching a node's columns one at a time: every cut of a sorted list, or the best subset of categories.
#include "growers/constrained/column_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "growers/constrained/costs.hpp"
#include "growers/constrained/policy.hpp"
#include "growers/random_cuts.hpp"

namespace treewright::constrained {

/// Judges cuts of the list at hand. The gate sums up what lies left of them.
class ColumnSearcher::Judge final : public CutJudge {
  public:
    Judge(ColumnSearcher& searcher, bool missing_left) : searcher_(searcher), sums_(gate().width(), 0) {
        if (missing_left) add(searcher.list_.n_known, searcher.n_competing_);
    }
    bool allows(std::size_t n_first) override {
        if (searcher_.task_.policy.counts_cuts() && !searcher_.counts_[n_first]) return false;
        add(n_sent_, n_first);
        n_sent_ = n_first;
        return admits(n_first < searcher_.list_.n_known);
    }
    bool allows_division() override { return admits(false); }

  private:
    Gate& gate() const { return searcher_.gate_; }
    void add(std::size_t begin, std::size_t end) {
        if (sums_.empty()) return;
        for (std::size_t i = begin; i < end; ++i) gate().add_to(sums_.data(), searcher_.list_.entries[i]);
    }
    bool admits(bool is_ordered) {
        auto& scanner = *searcher_.scanner_;
        return scanner.groups() ? gate().allows(sums_.data(), is_ordered)
                                : gate().allows_medians(scanner, is_ordered);
    }

    ColumnSearcher& searcher_;
    std::vector<Sum> sums_;
    std::size_t n_sent_ = 0;
};

ColumnSearcher::ColumnSearcher(const Task& task)
    : task_(task), limits_(task.problem.limits), gate_(task), branching_(task) {
    if (task.options.costs.empty())
        scanner_ = task.criterion.make_long_scanner(task.problem, task.options.missing == Missing::learn);
    else
        scanner_ = std::make_unique<ListScannerOf<Id, CostScanner<Id>>>(task.problem, task.options.costs);
    scanner_->load(task.problem.rows);
}

void ColumnSearcher::enter(const View& node) {
    node_ = node;
    // Parts of rows are counted by the gate, whole ones by their number.
    limits_.min_rows_leaf = node.shares.empty() ? task_.problem.limits.min_rows_leaf : 0;
    gate_.enter(node_);
    scanner_->enter(node.ids);
    is_whole_ = true;
    weight_ = scanner_->weight();
    most_ = std::isfinite(scanner_->most()) ? scanner_->gain(scanner_->most()) : scanner_->most();
}

Cut ColumnSearcher::search(std::int32_t column) {
    column_ = column;
    if (task_.ranks[column].is_constant) return {};
    const bool is_category = task_.problem.columns[column].is_category();
    if (is_category && task_.options.multiway) return branching_.search(node_, column, gate_);
    list_ = sorter_.list_of(task_, node_, column);
    const bool one_value = list_.n_known == 0 || rank(0) == rank(list_.n_known - 1);
    if (list_.n_known == 0 || (one_value && (!has_missing() || task_.options.scores_known()))) return {};
    if (is_category) return search_category();
    return has_missing() && task_.options.missing == Missing::category ? search_three_way() : search_number();
}

/// The rows that compete for a cut: all of the node, or those whose value is known.
void ColumnSearcher::compete(bool only_known) {
    if (!only_known || !has_missing()) {
        if (!is_whole_) scanner_->enter(node_.ids);
        is_whole_ = true;
        n_competing_ = list_.n;
        return gate_.take(column_);
    }
    const std::span<const Id> missing(list_.entries + list_.n_known, list_.n - list_.n_known);
    is_missing_.resize(task_.problem.rows.size(), 0);
    for (const Id id : missing) is_missing_[id] = 1;
    known_.resize(node_.ids.size() + 1);
    std::size_t n = 0;
    for (const Id id : node_.ids) {  // without branches: nobody can foresee which rows these are
        known_[n] = id;
        n += 1 - is_missing_[id];
    }
    for (const Id id : missing) is_missing_[id] = 0;
    scanner_->enter(std::span<const Id>(known_).first(n));
    is_whole_ = false;
    n_competing_ = list_.n_known;
    gate_.take(column_, missing);
}

/// A cut of the rows that compete. Where gains may be negative, such cuts are not made.
Cut ColumnSearcher::cut_of(double gain, std::vector<double> weights) const {
    Cut cut;
    cut.noise = scanner_->gain(scanner_->noise());
    if (gain < -cut.noise) return cut;
    cut.split.column = column_;
    cut.split.gain = std::max(0.0, gain);
    cut.weights = std::move(weights);
    return cut;
}

Cut ColumnSearcher::search_number() {
    compete(task_.options.scores_known());
    const std::size_t n_cuts = task_.policy.counts_cuts() ? count_cuts() : 0;
    auto& places = scan();
    if (!places.found()) return {};
    const ListPlace& found = places.first();
    Cut cut = cut_of(scanner_->gain(places.first_score()),
                     {found.weight_left, scanner_->weight() - found.weight_left});
    cut.split.missing_left = found.missing_left;
    cut.split.saw_missing = list_.n_known < n_competing_;
    set_gap(cut, found.n_first);
    return task_.policy.charge(cut, n_cuts, node_.count(), weight_) ? cut : Cut{};
}
std::size_t ColumnSearcher::count_cuts() {
    const std::span<const Id> known(list_.entries, list_.n_known);
    gate_.count_left(known, n_left_);
    return task_.policy.count_cuts(task_.ranks[column_], known, n_left_, counts_);
}

/// The values on both sides of the cut; all known values lie left where the missing ones alone go right.
void ColumnSearcher::set_gap(Cut& cut, std::size_t n_first) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    cut.split.low = cut.split.high = infinite;
    if (n_first == list_.n_known) return;
    cut.split.low = value(n_first - 1);
    cut.split.high = value(n_first);
    task_.policy.choose_threshold(cut.split, task_.ranks[column_], rank(n_first - 1), rank(n_first));
}

/// Tries every cut of the sorted list, with the missing rows that compete on either side.
Records<ListPlace>& ColumnSearcher::scan() {
    const bool is_judged = gate_.is_active() || task_.policy.counts_cuts();
    const auto scan_side = [&](bool missing_left, Records<ListPlace>& places) {
        const CutRange range = range_of(missing_left);
        if (range.is_empty()) return;
        Judge judge(*this, missing_left);
        scanner_->scan(sorted(), range, missing_left, task_.ranks[column_].of_id.data(),
                       limits_.min_weight_leaf, places, is_judged ? &judge : nullptr);
    };
    return places_.find(list_.n_known < n_competing_, scanner_->noise(), unreachable, scan_side);
}
CutRange ColumnSearcher::range_of(bool missing_left) const {
    if (!limits_.random_splits) return cut_range(sorted(), missing_left, limits_.min_rows_leaf);
    return drawn_range(sorted(), missing_left, limits_.min_rows_leaf, node_.key,
                       static_cast<std::size_t>(column_), rank(0) == rank(list_.n_known - 1),
                       [&](std::size_t i) { return value(i); });
}

/// Low, high and missing; or known and missing, where nothing tells the known ones apart.
Cut ColumnSearcher::search_three_way() {
    compete(false);
    const auto sent = scanner_->send({list_.entries, list_.n_known});
    std::vector<Sum> left(gate_.width(), 0), missing(gate_.width(), 0);
    for (std::size_t i = 0; gate_.width() > 0 && i < list_.n; ++i)
        gate_.add_to(i < list_.n_known ? left.data() : missing.data(), list_.entries[i]);
    const bool has_sums = scanner_->groups() != nullptr;
    const double rest = scanner_->weight() - sent.weight;
    const auto n_missing = static_cast<std::int64_t>(list_.n - list_.n_known);
    if (sent.score == unreachable || n_missing < limits_.min_rows_leaf || rest < limits_.min_weight_leaf ||
        !(has_sums ? gate_.admits(missing.data()) : gate_.admits_rest(*scanner_)))
        return {};
    const bool may_be_two =
        static_cast<std::int64_t>(list_.n_known) >= limits_.min_rows_leaf &&
        sent.weight >= limits_.min_weight_leaf &&
        (has_sums ? gate_.allows(left.data(), false) : gate_.allows_medians(*scanner_, false));
    Cut two = may_be_two ? cut_of(scanner_->gain(sent.score), {sent.weight, rest}) : Cut{};
    const double outer = scanner_->gain(sent.score), noise = scanner_->gain(scanner_->noise());
    two.split.saw_missing = true;
    set_gap(two, list_.n_known);
    compete(true);
    auto& places = scan();
    if (!places.found()) return two;
    const ListPlace& found = places.first();
    Cut three = cut_of(outer + scanner_->gain(places.first_score()),
                       {found.weight_left, scanner_->weight() - found.weight_left, rest});
    three.noise = std::max(three.noise, noise);
    three.form = Cut::Form::three_way;
    three.split.saw_missing = true;
    set_gap(three, found.n_first);
    Best best;
    best.noise = three.noise;
    if (three.found()) best.set(three.split.gain);
    return two.found() && best.beaten_by(two.split.gain) ? two : three;
}

Cut ColumnSearcher::search_category() {
    compete(task_.options.scores_known());
    std::vector<std::size_t> begin;  // of each category in the list; the last one is where the missing begin
    for (std::size_t i = 0; i < list_.n_known; ++i)
        if (i == 0 || rank(i) != rank(i - 1)) begin.push_back(i);
    begin.push_back(list_.n_known);
    const auto division = best_division(begin);
    if (!division) return {};
    const auto& [subset, score] = *division;
    const double left = subset.weight_left, rank = rank_of(limits_, score);
    Cut cut = cut_of(rank < 0 ? 0.0 : scanner_->gain(score), {left, scanner_->weight() - left});
    cut.split.rank = rank;
    cut.split.missing_left = subset.missing_left;
    cut.split.saw_missing = list_.n_known < n_competing_;
    for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
        const auto code = task_.problem.columns[column_].code(task_.row(list_.entries[begin[g]]));
        (subset.is_left[g] ? cut.split.left_codes : cut.split.right_codes).push_back(code);
    }
    return cut;
}

std::optional<Division> ColumnSearcher::best_division(const std::vector<std::size_t>& begin) {
    if (GroupScorer* const scorer = scanner_->groups()) {
        GatedScorer gated(*scorer, gate_);
        const Groups groups = gather_groups(begin, scorer->width());
        SubsetSearch search(gated, limits_, groups, n_competing_, scanner_->noise());
        Random random = subset_stream(node_.key, static_cast<std::size_t>(column_));
        if (!(limits_.random_splits && groups.n > 1 ? search.run_random(random) : search.run()))
            return std::nullopt;
        return Division{std::move(search.found), search.score()};
    }
    std::vector<std::span<const Id>> groups;
    for (std::size_t g = 0; g + 1 < begin.size(); ++g)
        groups.emplace_back(list_.entries + begin[g], list_.entries + begin[g + 1]);
    if (list_.n_known < n_competing_)
        groups.emplace_back(list_.entries + list_.n_known, list_.entries + n_competing_);
    Judge judge(*this, false);
    return scanner_->divide(std::move(groups), begin.size() - 1, limits_,
                            gate_.is_active() ? &judge : nullptr, unreachable);
}

/// Statistics of the scanner, `n_scored` sums, then of the gate.
Groups ColumnSearcher::gather_groups(const std::vector<std::size_t>& begin, std::size_t n_scored) {
    const std::size_t width = n_scored + gate_.width();
    Groups groups;
    const auto add = [&](Sum* statistic, std::size_t first, std::size_t last) {
        scanner_->add_to(statistic, {list_.entries + first, last - first});
        for (std::size_t i = first; i < last; ++i) gate_.add_to(statistic + n_scored, list_.entries[i]);
    };
    groups.n = begin.size() - 1;
    groups.statistics.assign(groups.n * width, 0);
    groups.missing.assign(width, 0);
    groups.n_missing = n_competing_ - list_.n_known;
    for (std::size_t g = 0; g < groups.n; ++g) {
        groups.counts.push_back(begin[g + 1] - begin[g]);
        add(groups.statistics.data() + g * width, begin[g], begin[g + 1]);
    }
    add(groups.missing.data(), list_.n_known, n_competing_);
    return groups;
}

}  // namespace treewright::constrained
