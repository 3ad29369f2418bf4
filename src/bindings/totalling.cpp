// Python's door to sums over many trees.
#include "totalling.hpp"

#include "arrays.hpp"

namespace treewright {

namespace {

/// A tree of Python's with the arrays that own its memory: (end, feature, threshold, subset, missing_left,
/// heavier_left, subsets, lines).
struct OwnedSpeaker {
    Vector<std::int32_t> end, feature;
    Vector<double> threshold;
    Vector<std::int64_t> subset;
    Vector<bool> missing_left, heavier_left;
    Vector<std::uint8_t> subsets;
    Matrix<double> lines;

    explicit OwnedSpeaker(const nb::tuple& arrays)
        : end(nb::cast<Vector<std::int32_t>>(arrays[0])),
          feature(nb::cast<Vector<std::int32_t>>(arrays[1])),
          threshold(nb::cast<Vector<double>>(arrays[2])),
          subset(nb::cast<Vector<std::int64_t>>(arrays[3])),
          missing_left(nb::cast<Vector<bool>>(arrays[4])),
          heavier_left(nb::cast<Vector<bool>>(arrays[5])),
          subsets(nb::cast<Vector<std::uint8_t>>(arrays[6])),
          lines(nb::cast<Matrix<double>>(arrays[7])) {}

    Speaker speaker() const {
        return {{view(end), view(feature), view(threshold), view(subset), bytes(missing_left),
                 bytes(heavier_left), view(subsets)},
                lines.data()};
    }
};

nb::object totals(nb::handle columns, const nb::list& trees, std::size_t width, std::size_t n_threads) {
    const Table table = read_table(columns);
    std::vector<OwnedSpeaker> owned;
    std::vector<Speaker> speakers;
    for (const nb::handle tree : trees) {
        owned.emplace_back(nb::cast<nb::tuple>(tree));
        if (owned.back().lines.shape(0) != owned.back().end.shape(0) || owned.back().lines.shape(1) != width)
            throw std::invalid_argument("a tree needs a line of its width for each node");
        speakers.push_back(owned.back().speaker());
    }
    std::vector<double> total(table.n_rows * width, 0.0);
    constexpr std::size_t many = 50000;  // rows by trees; fewer are done before a thread has started
    without_gil([&](Interrupt& interrupt) {
        Pool pool(table.n_rows * speakers.size() < many ? 1 : n_threads, interrupt);
        add_up(speakers, width, table.columns, table.n_rows, total.data(), pool, interrupt);
    });
    return to_numpy(std::move(total), {table.n_rows, width});
}

}  // namespace

void bind_totalling(nb::module_& module) {
    using namespace nb::literals;
    module.def("totals", &totals, "columns"_a, "trees"_a, "width"_a, "n_threads"_a);
}

}  // namespace treewright
