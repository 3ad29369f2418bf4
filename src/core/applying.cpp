// Sending rows down a finished tree, a block of rows at a time.
#include "applying.hpp"

#include <algorithm>

namespace treewright {

namespace {

/// A node as the walk reads it: 24 bytes, one after the other. A leaf points to itself, whatever the value.
struct Step {
    double threshold;
    std::int32_t next[2];  // right, left
    std::int32_t column;
    std::int32_t missing;  // where a missing value goes
};

std::vector<Step> steps_of(const Routes& routes) {
    const auto n = routes.end.size();
    std::vector<Step> steps(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto here = static_cast<std::int32_t>(i);
        if (routes.feature[i] < 0) {
            steps[i] = {0.0, {here, here}, 0, here};
        } else {
            const auto left = here + 1, right = routes.end[i + 1];
            steps[i] = {
                routes.threshold[i], {right, left}, routes.feature[i], routes.missing_left[i] ? left : right};
        }
    }
    return steps;
}

/// Numbers only: a group of rows walks in step, so that the loads of one hide the waiting of the others.
class NumberWalk {
  public:
    NumberWalk(const Routes& routes, const std::vector<Column>& columns)
        : columns_(columns), steps_(steps_of(routes)) {}
    void run(std::size_t begin, std::size_t end, std::int32_t* leaf) const {
        with_values_of_table([&](auto value) {
            constexpr std::size_t group = 16;
            for (std::size_t first = begin; first < end; first += group) {
                const std::size_t n = std::min(group, end - first);
                std::int32_t node[group] = {};
                for (bool moving = steps_.size() > 1; moving;) {
                    moving = false;
                    for (std::size_t i = 0; i < n; ++i) {
                        const Step& step = steps_[static_cast<std::size_t>(node[i])];
                        const double x = value(first + i, step.column);
                        const std::int32_t next = x == x ? step.next[x <= step.threshold] : step.missing;
                        moving |= next != node[i];
                        node[i] = next;
                    }
                }
                std::copy(node, node + n, leaf + first);
            }
        });
    }

  private:
    /// Tables whose columns share one type are read without asking each time.
    template <class Work>
    void with_values_of_table(Work work) const {
        const auto all = [&](Column::Type type) {
            return std::all_of(columns_.begin(), columns_.end(),
                               [&](const Column& c) { return c.type == type; });
        };
        const Column* const columns = columns_.data();
        if (all(Column::Type::float64))
            work([=](std::size_t row, std::int32_t c) { return columns[c].at<double>(row); });
        else if (all(Column::Type::float32))
            work([=](std::size_t row, std::int32_t c) {
                return static_cast<double>(columns[c].at<float>(row));
            });
        else
            work([=](std::size_t row, std::int32_t c) { return columns[c].value(row); });
    }

    const std::vector<Column>& columns_;
    std::vector<Step> steps_;
};

std::int32_t leaf_of(const Routes& routes, const std::vector<Column>& columns, std::size_t row) {
    std::size_t node = 0;
    while (routes.feature[node] >= 0) {
        const Column& column = columns[static_cast<std::size_t>(routes.feature[node])];
        bool left;
        if (routes.subset[node] < 0) {
            const double x = column.value(row);
            left = std::isnan(x) ? routes.missing_left[node] != 0 : x <= routes.threshold[node];
        } else {
            const auto code = column.code(row);
            if (code == missing_code)
                left = routes.missing_left[node] != 0;
            else if (code < 0)
                left = routes.heavier_left[node] != 0;
            else {  // a code beyond the subset is of no category in it
                const auto place = static_cast<std::size_t>(routes.subset[node] + code / 8);
                left = place < routes.subsets.size() && (routes.subsets[place] >> (code % 8) & 1);
            }
        }
        node = left ? node + 1 : static_cast<std::size_t>(routes.end[node + 1]);
    }
    return static_cast<std::int32_t>(node);
}

}  // namespace

void apply(const Routes& routes, const std::vector<Column>& columns, std::size_t n_rows, std::int32_t* leaf,
           Pool& pool, Interrupt& interrupt) {
    constexpr std::size_t block = 8192;
    const std::size_t n_blocks = (n_rows + block - 1) / block;
    const auto in_blocks = [&](auto&& walk) {
        pool.run(n_blocks, [&](std::size_t task, std::size_t) {
            interrupt.check();
            walk(task * block, std::min(n_rows, (task + 1) * block));
        });
    };
    const bool numbers_only =
        std::none_of(columns.begin(), columns.end(), [](const Column& c) { return c.is_category(); });
    if (numbers_only && n_rows > 1) {
        const NumberWalk walk(routes, columns);
        in_blocks([&](std::size_t begin, std::size_t end) { walk.run(begin, end, leaf); });
    } else {
        in_blocks([&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) leaf[row] = leaf_of(routes, columns, row);
        });
    }
}

}  // namespace treewright
