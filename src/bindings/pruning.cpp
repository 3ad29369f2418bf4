// Python's door to pruning.
#include <nanobind/stl/optional.h>

#include <cmath>

#include "arrays.hpp"
#include "pruning/front.hpp"
#include "pruning/weakest_links.hpp"

namespace treewright {

namespace {

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// The losses of the nodes, one finite number each.
std::span<const double> read_losses(const Vector<std::int32_t>& end, const Vector<double>& loss) {
    if (loss.shape(0) != end.shape(0)) throw std::invalid_argument("loss and end differ in length");
    for (std::size_t node = 0; node < loss.shape(0); ++node)
        if (!std::isfinite(loss.data()[node]))
            throw std::invalid_argument("the loss of node " + std::to_string(node) +
                                        " is not a finite number");
    return view(loss);
}

nb::tuple find_weakest_links(const Vector<std::int32_t>& end, const Vector<double>& loss,
                             const std::optional<Vector<double>>& cost) {
    const auto losses = read_losses(end, loss);
    std::span<const double> costs;
    if (cost) {
        costs = view(*cost);
        if (costs.size() != losses.size()) throw std::invalid_argument("cost and end differ in length");
        for (std::size_t node = 0; node < costs.size(); ++node)
            if (!(costs[node] > 0 && std::isfinite(costs[node])))
                throw std::invalid_argument("the cost of node " + std::to_string(node) +
                                            " is not a positive number");
    }
    WeakestLinks links;
    without_gil([&](Interrupt& interrupt) { links = weakest_links(view(end), losses, costs, interrupt); });
    return nb::make_tuple(to_numpy(std::move(links.level)), to_numpy(std::move(links.alpha)),
                          to_numpy(std::move(links.loss)), to_numpy(std::move(links.leaves)));
}

nb::tuple find_tree_front(const Vector<std::int32_t>& end, const Vector<double>& loss,
                          std::optional<std::int64_t> max_leaves, std::size_t max_bytes, bool keeps_choices) {
    const auto losses = read_losses(end, loss);
    if (max_leaves && *max_leaves < 1)
        throw std::invalid_argument("max_leaves is " + std::to_string(*max_leaves) +
                                    "; it must be at least 1");
    const FrontLimits limits{max_leaves.value_or(end.shape(0)), max_bytes, keeps_choices};
    Front front;
    try {
        without_gil([&](Interrupt& interrupt) { front = find_front(view(end), losses, limits, interrupt); });
    } catch (const TooManyChoices& error) {
        PyErr_SetString(PyExc_MemoryError, error.what());
        throw nb::python_error();
    }
    return nb::make_tuple(to_numpy(std::move(front.leaves)), to_numpy(std::move(front.loss)),
                          to_numpy(std::move(front.length)), to_numpy(std::move(front.choices)));
}

nb::object find_front_pruning(const Vector<std::int32_t>& end, const Vector<std::int32_t>& length,
                              const Vector<std::uint8_t>& choices, std::int64_t leaves) {
    if (length.shape(0) != end.shape(0)) throw std::invalid_argument("length and end differ in length");
    return to_numpy(front_pruning(view(end), view(length), view(choices), leaves));
}

}  // namespace

void bind_pruning(nb::module_& module) {
    using namespace nb::literals;
    module.def("weakest_links", &find_weakest_links, "end"_a, "loss"_a, "cost"_a.none() = nb::none());
    module.def("front", &find_tree_front, "end"_a, "loss"_a, "max_leaves"_a.none() = nb::none(),
               "max_bytes"_a = FrontLimits{}.max_bytes, "keeps_choices"_a = true);
    module.def("front_pruning", &find_front_pruning, "end"_a, "length"_a, "choices"_a, "leaves"_a);
}

}  // namespace treewright
