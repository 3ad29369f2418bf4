// Splits of a category column into one branch for each category.
#include "growers/constrained/branches.hpp"

#include <algorithm>

#include "growers/constrained/costs.hpp"
#include "growers/constrained/policy.hpp"

namespace treewright::constrained {

Branching::Branching(const Task& task) : task_(task) {
    for (const auto k : task.problem.targets.n_classes)
        start_.push_back(start_.back() + static_cast<std::size_t>(k));
}

Cut Branching::search(const View& node, std::int32_t column, Gate& gate) {
    const bool has_missing = gather(node, column);
    const std::size_t n_codes = first_.size();
    std::vector<Part> parts(parts_.begin(), parts_.end() - 1);
    Cut cut;
    cut.form = Cut::Form::multiway;
    Best best;
    const auto attempt = [&](int missing_branch) {
        if (parts.size() < 2 || !are_allowed(parts) || !lie_within(node, column, gate, missing_branch))
            return;
        const double found = gain(parts);
        if (!best.beaten_by(found)) return;
        best.set(found);
        cut.split.column = column;
        cut.missing_branch = missing_branch;
        cut.weights.clear();
        for (const Part& part : parts) cut.weights.push_back(part.weight);
    };
    best.noise = cut.noise = noise();
    if (!has_missing || task_.options.scores_known()) {
        attempt(-1);
    } else if (task_.options.missing == Missing::category) {
        parts.push_back(parts_.back());
        attempt(static_cast<int>(n_codes));
    } else {
        for (std::size_t branch = 0; branch < n_codes; ++branch) {
            parts[branch] = joined(parts_[branch], parts_.back());
            attempt(static_cast<int>(branch));
            parts[branch] = parts_[branch];
        }
    }
    if (!cut.found() || best.score < -best.noise) return {};
    cut.split.gain = std::max(0.0, best.score);
    cut.split.saw_missing = has_missing && !task_.options.scores_known();
    const Column& source = task_.problem.columns[column];
    for (const Id first : first_) cut.split.left_codes.push_back(source.code(task_.row(first)));
    return cut;
}

/// Finds the categories of a node and sums up their rows, in the order of the node: so the sums do not depend
/// on the order of the table. Whether there are rows without a category.
bool Branching::gather(const View& node, std::int32_t column) {
    const auto& rank = task_.ranks[column].of_id;
    const SortedList<Id> list = sorter_.list_of(task_, node, column);
    first_.clear();
    part_.resize(task_.ranks[column].n_distinct);
    for (std::size_t i = 0; i < list.n_known; ++i) {
        if (i > 0 && rank[list.entries[i]] == rank[list.entries[i - 1]]) continue;
        part_[rank[list.entries[i]]] = static_cast<Id>(first_.size());
        first_.push_back(list.entries[i]);
    }
    if (!task_.problem.targets.are_classes()) centre(node);
    const std::size_t width =
        task_.problem.targets.are_classes() ? start_.back() : task_.problem.targets.n_outputs;
    parts_.assign(first_.size() + 1, Part{0, 0, std::vector<double>(width, 0.0)});
    for (std::size_t i = 0; i < node.ids.size(); ++i)
        add(parts_[part_of(column, node.ids[i])], node.ids[i], node.shares.empty() ? 1.0 : node.shares[i]);
    return list.n_known < list.n;
}

std::size_t Branching::part_of(std::int32_t column, Id id) const {
    return task_.is_known(column, id) ? part_[task_.ranks[column].of_id[id]] : first_.size();
}

void Branching::centre(const View& node) {
    const Problem& problem = task_.problem;
    centre_.assign(problem.targets.n_outputs, 0.0);
    if (!task_.criterion.is_centred) return;
    for (std::size_t output = 0; output < centre_.size(); ++output)
        centre_[output] = number_grid(problem, rows_of(problem, node.ids), output, true).centre;
}

void Branching::add(Part& part, Id id, double share) const {
    const Problem& problem = task_.problem;
    const Row row = task_.row(id);
    const double weight = problem.weight(row);
    part.count += share;
    part.weight += weight;
    for (std::size_t output = 0; output < problem.targets.n_outputs; ++output)
        if (problem.targets.are_classes())
            part.sums[start_[output] + static_cast<std::size_t>(problem.label(row, output))] += weight;
        else
            part.sums[output] += weight * (problem.number(row, output) - centre_[output]);
}

Branching::Part Branching::joined(const Part& a, const Part& b) const {
    Part sum = a;
    sum.count += b.count;
    sum.weight += b.weight;
    for (std::size_t i = 0; i < sum.sums.size(); ++i) sum.sums[i] += b.sums[i];
    return sum;
}

double Branching::risk(const Part& part) const {
    if (!task_.options.costs.empty()) return cost_risk(task_.options.costs, part.sums);
    double sum = 0;
    for (std::size_t output = 0; output + 1 < start_.size(); ++output)
        sum += task_.criterion.risk(
            Weights(part.sums).subspan(start_[output], start_[output + 1] - start_[output]));
    return sum / static_cast<double>(task_.problem.targets.n_outputs);
}

/// What rounding can do to a difference of risks.
double Branching::noise() const {
    if (!task_.problem.targets.are_classes()) return 0.0;
    Part all = parts_[0];
    for (std::size_t g = 1; g < parts_.size(); ++g) all = joined(all, parts_[g]);
    return rounding_noise * risk(all);
}

double Branching::gain(const std::vector<Part>& parts) const {
    double sum = 0;
    Part all = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (!task_.problem.targets.are_classes())  // what is won by telling this part from those before it
            for (std::size_t output = 0; output < all.sums.size(); ++output)
                sum += task_.criterion.sum_gain(all.weight, all.sums[output], parts[i].weight,
                                                parts[i].sums[output]) /
                       static_cast<double>(all.sums.size());
        all = joined(all, parts[i]);
    }
    if (!task_.problem.targets.are_classes()) return sum;
    sum = risk(all);
    for (const Part& part : parts) sum -= risk(part);
    return sum;
}

bool Branching::are_allowed(const std::vector<Part>& parts) const {
    const Limits& limits = task_.problem.limits;
    const auto n_large = std::count_if(parts.begin(), parts.end(), [&](const Part& part) {
        return part.count + share_rounding >= static_cast<double>(limits.min_rows_leaf);
    });
    if (!task_.policy.are_enough(static_cast<std::size_t>(n_large), parts.size())) return false;
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return part.weight >= limits.min_weight_leaf; });
}

bool Branching::lie_within(const View& node, std::int32_t column, Gate& gate, int missing_branch) const {
    if (node.bounds->low.empty()) return true;
    gate.take(column);
    const std::size_t n_codes = first_.size(), width = gate.width();
    std::vector<Sum> sums((n_codes + 1) * width, 0);
    for (const Id id : node.ids) {
        const std::size_t part = part_of(column, id);
        const bool joins = part == n_codes && missing_branch >= 0;
        gate.add_to(sums.data() + (joins ? static_cast<std::size_t>(missing_branch) : part) * width, id);
    }
    const std::size_t n_parts = n_codes + (missing_branch == static_cast<int>(n_codes) ? 1 : 0);
    for (std::size_t part = 0; part < n_parts; ++part)
        if (!gate.admits(sums.data() + part * width)) return false;
    return true;
}

}  // namespace treewright::constrained
