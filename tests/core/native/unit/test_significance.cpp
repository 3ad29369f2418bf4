// The χ² of a split beside the textbook's sum over cells.
#include <numeric>
#include <span>
#include <vector>

#include "growers/significance.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

struct Drawn {
    std::size_t n, n_classes, n_outputs;
    std::vector<std::int32_t> labels;
    std::vector<double> weight;
    std::vector<std::uint8_t> goes_left;

    Drawn(std::size_t rows, std::size_t classes, std::size_t outputs, std::uint64_t seed)
        : n(rows), n_classes(classes), n_outputs(outputs) {
        Random random{seed};
        for (std::size_t i = 0; i < n * n_outputs; ++i)
            labels.push_back(static_cast<std::int32_t>(random.below(n_classes)));
        for (std::size_t row = 0; row < n; ++row) {
            weight.push_back(static_cast<double>(1 + random.below(5)) / 2);
            goes_left.push_back(row == 0 || (row > 1 && random.below(3) == 0));  // both sides have rows
        }
    }
    double weight_of(std::size_t output, std::size_t label, int side) const {
        double sum = 0;
        for (std::size_t row = 0; row < n; ++row)
            if (labels[output * n + row] == static_cast<std::int32_t>(label) && goes_left[row] == side)
                sum += weight[row];
        return sum;
    }
};

struct Naive {
    double statistic = 0;
    std::size_t freedom = 0;
};

/// Σ (observed − expected)² / expected.
Naive chi_squared(const Drawn& drawn) {
    Naive out;
    for (std::size_t output = 0; output < drawn.n_outputs; ++output) {
        double side[2]{};
        for (std::size_t row = 0; row < drawn.n; ++row) side[drawn.goes_left[row]] += drawn.weight[row];
        std::size_t present = 0;
        for (std::size_t label = 0; label < drawn.n_classes; ++label) {
            const double observed[2]{drawn.weight_of(output, label, 0), drawn.weight_of(output, label, 1)};
            const double all = observed[0] + observed[1];
            if (all == 0) continue;
            ++present;
            for (const int s : {0, 1}) {
                const double expected = all * side[s] / (side[0] + side[1]);
                out.statistic += (observed[s] - expected) * (observed[s] - expected) / expected;
            }
        }
        out.freedom += present - 1;
    }
    return out;
}

bool passes(const Drawn& drawn, const std::vector<double>& critical) {
    Problem problem;
    problem.n_rows = drawn.n;
    problem.targets.n_outputs = drawn.n_outputs;
    problem.targets.labels = drawn.labels.data();
    problem.targets.weight = drawn.weight.data();
    problem.limits.critical = critical;
    std::vector<Row> rows(drawn.n);
    std::iota(rows.begin(), rows.end(), Row{0});
    return SignificanceTest(problem).passes(
        std::span<const Row>(rows), [](Row row) { return row; },
        [&](Row row) { return drawn.goes_left[row]; });
}

}  // namespace

TEST("significance: a split passes where its χ² reaches the value of its degrees of freedom") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Drawn drawn(2 + seed * 2, 2 + seed % 4, 1 + seed % 3, seed);
        const auto [statistic, freedom] = chi_squared(drawn);
        // Other degrees of freedom would decide otherwise.
        std::vector<double> critical(freedom + 3, 2 * statistic + 1);
        critical[freedom] = statistic * (1 - 1e-10);
        CHECK(passes(drawn, critical));
        std::fill(critical.begin(), critical.end(), 0.0);
        critical[freedom] = statistic * (1 + 1e-10) + 1e-10;
        CHECK(!passes(drawn, critical));
    }
}

TEST("significance: without critical values every split passes") { CHECK(passes(Drawn(10, 2, 1, 1), {})); }
