// Python's door to provably optimal trees.
#include "optimising/optimise.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <string>

#include "arrays.hpp"

namespace treewright {

namespace {

using optimising::Code;
using optimising::FoundTree;
using optimising::Loss;
using optimising::Optimum;
using optimising::Options;
using optimising::Stopped;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

struct Given {
    optimising::Table table;
    double unit = 1;
};

Given read_given(const Matrix<Code>& codes, const std::optional<Vector<std::int32_t>>& labels,
                 std::size_t n_classes, const std::optional<Vector<Loss>>& weights,
                 const std::optional<Matrix<Loss>>& gains, const std::optional<Vector<double>>& numbers) {
    Given given;
    auto& table = given.table;
    table.n_views = codes.shape(0);
    table.n_rows = codes.shape(1);
    table.codes = codes.data();
    require(table.n_rows > 0, "there are no rows");
    require(table.n_rows < (std::size_t{1} << 31), "there are too many rows");
    require(labels.has_value() != numbers.has_value(), "either classes or numbers are needed");
    Loss whole = 0;
    if (weights) {
        require(weights->shape(0) == table.n_rows, "weights do not fit the rows");
        table.weights = weights->data();
        constexpr Loss most = Loss{1} << 56;
        for (const Loss weight : view(*weights)) {
            require(weight > 0 && weight < most && (whole += weight) < most,
                    "weights must be whole, positive and of a sum below 2^56");
        }
    }
    if (numbers) {
        require(numbers->shape(0) == table.n_rows, "numbers do not fit the rows");
        for (const double number : view(*numbers)) require(std::isfinite(number), "a number is not finite");
        given.unit = optimising::place_numbers(table, view(*numbers));
        return given;
    }
    require(labels->shape(0) == table.n_rows, "labels do not fit the rows");
    for (const auto label : view(*labels))
        require(label >= 0 && static_cast<std::size_t>(label) < n_classes, "a label is no class");
    table.labels = labels->data();
    table.n_classes = table.n_answers = n_classes;
    if (!gains) return given;
    require(gains->shape(0) == n_classes && gains->shape(1) > 0, "gains do not fit the classes");
    table.n_answers = gains->shape(1);
    table.gains = {gains->data(), gains->size()};
    const double rows = static_cast<double>(weights ? whole : static_cast<Loss>(table.n_rows));
    for (const Loss gain : table.gains)
        require(gain >= 0 && static_cast<double>(gain) * rows < 0x1p58,
                "gains must not be negative, and their sum below 2^58");
    return given;
}

FoundTree read_tree(const std::optional<Vector<std::int32_t>>& views,
                    const std::optional<Vector<Code>>& codes) {
    FoundTree tree;
    if (!views || !codes) return tree;
    require(views->shape(0) == codes->shape(0), "the first tree's arrays differ in length");
    for (std::size_t i = 0; i < views->shape(0); ++i)
        tree.nodes.push_back({views->data()[i], codes->data()[i]});
    return tree;
}

const char* name_of(Stopped stopped) {
    switch (stopped) {
        case Stopped::proved:
            return "proved";
        case Stopped::gap:
            return "gap";
        case Stopped::time:
            return "time";
        case Stopped::work:
            return "work";
        case Stopped::memory:
            return "memory";
        case Stopped::interrupt:
            return "interrupt";
    }
    return "";
}

nb::dict to_dict(const Optimum& optimum, double unit) {
    std::vector<std::int32_t> views;
    std::vector<Code> codes;
    for (const auto& node : optimum.tree.nodes) {
        views.push_back(node.view);
        codes.push_back(node.code);
    }
    std::vector<double> history;
    for (const auto& moment : optimum.history)
        history.insert(history.end(), {moment.seconds, static_cast<double>(moment.work),
                                       static_cast<double>(moment.loss), static_cast<double>(moment.bound)});
    const std::size_t n_moments = optimum.history.size();
    nb::dict found;
    found["view"] = to_numpy(std::move(views));
    found["code"] = to_numpy(std::move(codes));
    found["loss"] = optimum.tree.loss;
    found["bound"] = optimum.bound;
    found["unit"] = unit;
    found["stopped"] = name_of(optimum.stopped);
    found["history"] = to_numpy(std::move(history), {n_moments, 4});
    found["work"] = optimum.work;
    return found;
}

nb::dict find_optimum(const Matrix<Code>& codes, const std::optional<Vector<std::int32_t>>& labels,
                      std::size_t n_classes, const std::optional<Vector<Loss>>& weights,
                      const std::optional<Matrix<Loss>>& gains, const std::optional<Vector<double>>& numbers,
                      int max_depth, std::int64_t max_leaves, std::size_t min_rows, Loss leaf_price,
                      double seconds, std::int64_t max_work, std::int64_t max_bytes, Loss gap,
                      const std::optional<Vector<std::uint8_t>>& root_views,
                      const std::optional<Vector<std::int32_t>>& first_view,
                      const std::optional<Vector<Code>>& first_code, std::size_t n_threads,
                      nb::handle progress) {
    const Given given = read_given(codes, labels, n_classes, weights, gains, numbers);
    Options options{max_depth,  max_leaves, std::max<std::size_t>(min_rows, 1),
                    leaf_price, seconds,    max_work,
                    max_bytes,  gap,        {},
                    nullptr};
    if (root_views) {
        require(root_views->shape(0) == given.table.n_views, "root_views do not fit the views");
        options.root_views.assign(root_views->data(), root_views->data() + root_views->shape(0));
    }
    const FoundTree first = read_tree(first_view, first_code);
    optimising::Moment now;
    options.now = &now;
    const nb::object tell = progress.is_none() ? nb::none() : nb::cpp_function([&](double) {
        progress(now.seconds, static_cast<double>(now.loss) * given.unit,
                 static_cast<double>(now.bound) * given.unit);
    });
    Optimum optimum;
    without_gil(
        [&](Interrupt& interrupt) {
            optimum = optimising::optimise(given.table, options, first, n_threads, interrupt);
        },
        tell);
    if (PyErr_Occurred()) {  // Ctrl-C ends the search, not the call: the best tree so far is worth having
        nb::python_error error;
        if (!error.matches(PyExc_KeyboardInterrupt)) throw error;
    }
    return to_dict(optimum, given.unit);
}

}  // namespace

void bind_optimising(nb::module_& module) {
    using namespace nb::literals;
    module.def("optimise", &find_optimum, "codes"_a, "labels"_a.none(), "n_classes"_a, "weights"_a.none(),
               "gains"_a.none(), "numbers"_a.none(), "max_depth"_a, "max_leaves"_a, "min_rows"_a,
               "leaf_price"_a, "seconds"_a, "max_work"_a, "max_bytes"_a, "gap"_a, "root_views"_a.none(),
               "first_view"_a.none(), "first_code"_a.none(), "n_threads"_a, "progress"_a.none());
}

}  // namespace treewright
