// Which columns a node may test, and which of their cuts it takes.
#include "growers/constrained/choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/elementary.hpp"

namespace treewright::constrained {

ColumnRules::ColumnRules(const Options& options, std::size_t n_columns)
    : options_(options), groups_(options.groups), is_used_(n_columns, 0) {
    if (!options.has_groups) return;
    std::vector<std::uint8_t> is_grouped(n_columns, 0);
    for (auto& group : groups_) {
        std::sort(group.begin(), group.end());
        for (const auto column : group) is_grouped[column] = 1;
    }
    for (std::size_t column = 0; column < n_columns; ++column)
        if (!is_grouped[column]) groups_.push_back({static_cast<std::int32_t>(column)});
}

Path ColumnRules::extended(const Path& path, std::int32_t column) const {
    Path longer = path;
    const auto place = std::lower_bound(longer.begin(), longer.end(), column);
    if (need_paths() && (place == longer.end() || *place != column)) longer.insert(place, column);
    return longer;
}

std::vector<std::int32_t> ColumnRules::allowed(const std::vector<std::int32_t>& columns,
                                               const Path& path) const {
    std::vector<std::uint8_t> may(is_used_.size(), options_.has_groups ? 0 : 1);
    for (const auto& group : groups_)
        if (options_.has_groups && std::includes(group.begin(), group.end(), path.begin(), path.end()))
            for (const auto column : group) may[column] = 1;
    for (const auto column : path)
        if (options_.once) may[column] = 0;
    std::vector<std::int32_t> out;
    for (const auto column : columns)
        if (may[column] && (!is_full() || is_used_[column])) out.push_back(column);
    return out;
}

double ColumnRules::price(std::int32_t column, const Path& path) const {
    if (options_.prices.empty() || std::binary_search(path.begin(), path.end(), column)) return 0.0;
    return options_.prices[column];
}

bool ColumnRules::use(std::int32_t column) {
    if (is_used_[column]) return false;
    is_used_[column] = 1;
    ++n_used_;
    return is_full();
}

namespace {

double information(const std::vector<double>& weights) {
    if (weights.size() == 2) return split_information(weights[0], weights[1]);
    const auto term = [](double weight) { return weight > 0 ? weight * elementary::log2(weight) : 0.0; };
    double sum = term(std::accumulate(weights.begin(), weights.end(), 0.0));
    for (const double weight : weights) sum -= term(weight);
    return sum;
}

std::int32_t best_gain(const std::vector<Cut>& cuts, double noise) {
    Records<std::int32_t> records;
    records.clear(noise);
    for (std::size_t i = 0; i < cuts.size(); ++i)
        if (cuts[i].score > records.largest()) records.add(cuts[i].score, static_cast<std::int32_t>(i));
    return records.found() ? records.first() : -1;
}

std::int32_t best_ratio(const std::vector<Cut>& cuts, double noise) {
    std::vector<RatioEntry> entries;
    for (const auto& cut : cuts) entries.push_back({cut.score, information(cut.weights)});
    return ratio_winner(entries, noise);
}

/// Release 8: missing values are a branch of the split information; columns of very many categories have no
/// part in the average gain, unless all are such; all per unit of weight, with C4.5's own rounding.
std::int32_t best_of_release8(const Task& task, const std::vector<Cut>& cuts, double weight) {
    constexpr double rounding = 1e-3, many = 0.3;
    const auto has_many = [&](const Column& column) {
        return column.n_categories >= many * static_cast<double>(task.problem.n_rows);
    };
    const auto& columns = task.problem.columns;
    const bool all_have_many = std::all_of(columns.begin(), columns.end(), has_many);
    double sum = 0;
    int n = 0;
    for (const auto& cut : cuts)
        if (all_have_many || !has_many(columns[cut.split.column])) {
            sum += cut.score / weight;
            ++n;
        }
    const double average = n > 0 ? sum / n : std::numeric_limits<double>::infinity();
    Best best;
    std::int32_t winner = -1;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        auto weights = cuts[i].weights;
        const double missing = weight - std::accumulate(weights.begin(), weights.end(), 0.0);
        weights.push_back(missing > weight * share_rounding ? missing : 0.0);
        const double gain = cuts[i].score / weight, split = information(weights) / weight;
        if (gain < average - rounding || split <= rounding || !best.beaten_by(gain / split)) continue;
        best.set(gain / split);
        winner = static_cast<std::int32_t>(i);
    }
    return winner;
}

}  // namespace

Cut choose_cut(const Task& task, std::vector<Cut>&& cuts, double weight) {
    double noise = 0;
    for (const auto& cut : cuts) noise = std::max(noise, cut.noise);
    std::int32_t winner;
    if (task.options.release8)
        winner = best_of_release8(task, cuts, weight);
    else if (task.criterion.by_ratio)
        winner = best_ratio(cuts, noise);
    else
        winner = best_gain(cuts, noise);
    if (winner < 0) return {};
    cuts[winner].score = std::max(0.0, cuts[winner].score);
    return std::move(cuts[winner]);
}

}  // namespace treewright::constrained
