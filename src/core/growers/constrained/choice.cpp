// Which columns a node may test, and which of their cuts it takes.
#include "growers/constrained/choice.hpp"

#include <algorithm>

#include "growers/constrained/policy.hpp"

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

Cut choose_cut(const Task& task, std::vector<Cut>&& cuts, double weight) {
    const auto winner = task.policy.choose(cuts, weight);
    if (winner < 0) return {};
    cuts[winner].score = std::max(0.0, cuts[winner].score);
    return std::move(cuts[winner]);
}

}  // namespace treewright::constrained
