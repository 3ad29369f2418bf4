// Python's door to born-again trees.
#include "born_again/search.hpp"

#include <nanobind/stl/string.h>

#include <cmath>

#include "arrays.hpp"

namespace treewright {

namespace {

using born_again::Forest;
using born_again::Limits;
using born_again::Objective;
using born_again::Outcome;

constexpr std::int32_t deepest = 512;  // tree; walks of them call themselves

/// Trees in preorder, one after the other; what is none is refused.
Forest read_forest(const Vector<std::int32_t>& roots, const Vector<std::int32_t>& end,
                   const Vector<std::int32_t>& column, const Vector<std::int32_t>& cut,
                   const Matrix<double>& votes, const Vector<std::int32_t>& n_cuts) {
    const auto refuse = [] { throw std::invalid_argument("the arrays are not those of a forest"); };
    const auto n = static_cast<std::int32_t>(end.shape(0));
    if (column.shape(0) != end.shape(0) || cut.shape(0) != end.shape(0) || roots.shape(0) == 0 ||
        votes.shape(1) < 1)
        refuse();
    Forest forest;
    forest.n_classes = votes.shape(1);
    forest.votes.assign(votes.data(), votes.data() + votes.size());
    forest.n_cuts.assign(n_cuts.data(), n_cuts.data() + n_cuts.shape(0));
    for (const std::int32_t each : forest.n_cuts)
        if (each < 0) refuse();
    std::vector<std::int32_t> open;  // ends of the subtrees that hold the node
    std::size_t tree = 0;
    for (std::int32_t i = 0; i < n; ++i) {
        while (!open.empty() && open.back() <= i) open.pop_back();
        if (open.empty()) {
            if (tree == roots.shape(0) || roots.data()[tree] != i) refuse();
            forest.roots.push_back(roots.data()[tree++]);
        }
        const std::int32_t last = end.data()[i], asked = column.data()[i], at = cut.data()[i];
        if (last <= i || last > n || (!open.empty() && last > open.back())) refuse();
        open.push_back(last);
        if (open.size() > static_cast<std::size_t>(deepest))
            throw std::invalid_argument("a tree is too deep");
        if (asked < 0) {
            if (last != i + 1) refuse();
            forest.nodes.push_back({-1, 0, static_cast<std::int32_t>(forest.n_leaves++), 0});
            continue;
        }
        if (asked >= static_cast<std::int32_t>(n_cuts.shape(0)) || at < 0 || at >= n_cuts.data()[asked])
            refuse();
        const std::int32_t right = last > i + 1 ? end.data()[i + 1] : last;
        if (right <= i + 1 || right >= last || end.data()[right] != last) refuse();
        forest.nodes.push_back({asked, at, i + 1, right});
    }
    if (tree != roots.shape(0) || votes.shape(0) != forest.n_leaves) refuse();
    for (const double vote : forest.votes)
        if (!std::isfinite(vote)) throw std::invalid_argument("a vote is not a finite number");
    forest.prepare();
    return forest;
}

Objective objective_named(const std::string& name) {
    if (name == "depth") return Objective::depth;
    if (name == "leaves") return Objective::leaves;
    if (name == "depth_leaves") return Objective::depth_leaves;
    throw std::invalid_argument("objective '" + name + "' is unknown");
}

nb::dict find_born_again(const Vector<std::int32_t>& roots, const Vector<std::int32_t>& end,
                         const Vector<std::int32_t>& column, const Vector<std::int32_t>& cut,
                         const Matrix<double>& votes, const Vector<std::int32_t>& n_cuts,
                         const std::string& objective, double seconds, std::size_t max_bytes,
                         nb::handle progress) {
    const Limits limits{objective_named(objective), seconds, max_bytes};
    const Forest forest = read_forest(roots, end, column, cut, votes, n_cuts);
    Outcome outcome;
    without_gil([&](Interrupt& interrupt) { outcome = born_again::search(forest, limits, interrupt); },
                progress);
    std::vector<std::int32_t> columns, cuts;
    for (const auto& node : outcome.tree.nodes) {
        columns.push_back(node.column);
        cuts.push_back(node.cut);
    }
    nb::dict found;
    found["column"] = to_numpy(std::move(columns));
    found["cut"] = to_numpy(std::move(cuts));
    found["is_found"] = outcome.is_found;
    found["is_smallest"] = outcome.is_smallest;
    found["least_depth"] = outcome.least_depth;
    found["least_leaves"] = outcome.least_leaves;
    found["ran_out_of_memory"] = outcome.ran_out_of_memory;
    found["n_regions"] = outcome.n_regions;
    return found;
}

}  // namespace

void bind_born_again(nb::module_& module) {
    using namespace nb::literals;
    module.def("born_again", &find_born_again, "roots"_a, "end"_a, "column"_a, "cut"_a, "votes"_a, "n_cuts"_a,
               "objective"_a, "seconds"_a, "max_bytes"_a, "progress"_a.none());
}

}  // namespace treewright
