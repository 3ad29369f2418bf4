// Sums over many trees: some thousand rows stay in cache while one tree after the other is walked.
#include "totalling.hpp"

#include <algorithm>

#include "walking.hpp"

namespace treewright {

namespace {

/// Rows that one thread takes through all trees: enough to pay for fetching each tree.
constexpr std::size_t portion = 4096;
/// Trees that are laid out at a time, by their nodes: to bound the memory.
constexpr std::size_t most_nodes = std::size_t{1} << 22;

/// A tree laid out for walking, with the lines of its leaves in the order of their places.
template <class T>
struct LaidOut {
    NumberTree<T> tree;
    std::vector<double> lines;

    LaidOut(const Speaker& speaker, const std::vector<std::int32_t>& offsets, std::size_t width)
        : tree(speaker.routes, offsets), lines(tree.size() * width) {
        for (std::uint32_t place = 0; place < tree.size(); ++place)
            if (tree.is_leaf(place))
                std::copy_n(speaker.lines + static_cast<std::size_t>(tree.node(place)) * width, width,
                            lines.data() + place * width);
    }
};

template <class T>
class Walkers {
  public:
    Walkers(std::span<const Speaker> speakers, std::size_t width, const std::vector<Column>& columns)
        : rows_(columns), width_(width) {
        for (const auto& speaker : speakers) trees_.emplace_back(speaker, rows_.offsets(), width);
    }

    void run(std::size_t begin, std::size_t end, double* total, Interrupt& interrupt) const {
        for (const auto& each : trees_) {
            interrupt.check();
            switch (width_) {
                case 1:
                    add<1>(each, begin, end, total);
                    break;
                case 2:
                    add<2>(each, begin, end, total);
                    break;
                case 3:
                    add<3>(each, begin, end, total);
                    break;
                default:
                    add<0>(each, begin, end, total);
            }
        }
    }

  private:
    template <std::size_t known_width>
    void add(const LaidOut<T>& each, std::size_t begin, std::size_t end, double* total) const {
        constexpr std::size_t block = NumberRows<T>::block;
        const std::size_t width = known_width ? known_width : width_;
        typename NumberRows<T>::Places arrived;
        for (std::size_t first = begin; first < end; first += block) {
            const std::size_t n = std::min(block, end - first);
            rows_.walk(each.tree, first, n, arrived);
            double* to = total + first * width;
            for (std::size_t i = 0; i < n; ++i, to += width) {
                const double* const line = each.lines.data() + arrived[i] * width;
                for (std::size_t k = 0; k < width; ++k) to[k] += line[k];
            }
        }
    }

    NumberRows<T> rows_;
    std::size_t width_;
    std::vector<LaidOut<T>> trees_;
};

}  // namespace

void add_up(std::span<const Speaker> speakers, std::size_t width, const std::vector<Column>& columns,
            std::size_t n_rows, double* total, Pool& pool, Interrupt& interrupt) {
    const auto in_portions = [&](auto&& work) {
        pool.run((n_rows + portion - 1) / portion, [&](std::size_t task, std::size_t) {
            work(task * portion, std::min(n_rows, (task + 1) * portion));
        });
    };
    const auto add_plainly = [&](const Speaker& speaker) {
        in_portions([&](std::size_t begin, std::size_t end) {
            interrupt.check();
            for (std::size_t row = begin; row < end; ++row) {
                const auto leaf = static_cast<std::size_t>(leaf_of(speaker.routes, columns, row));
                for (std::size_t k = 0; k < width; ++k)
                    total[row * width + k] += speaker.lines[leaf * width + k];
            }
        });
    };
    const bool are_doubles = NumberRows<double>::fit(columns);
    const bool is_laid_out = are_doubles || NumberRows<float>::fit(columns);
    for (std::size_t first = 0, last; first < speakers.size(); first = last) {
        std::size_t n_nodes = 0;
        for (last = first; last < speakers.size() && (last == first || n_nodes < most_nodes); ++last)
            n_nodes += speakers[last].routes.end.size();
        const auto some = speakers.subspan(first, last - first);
        // To lay a tree out anew takes about as long as some rows.
        if (!is_laid_out || n_rows * some.size() < n_nodes / 16) {
            for (const auto& speaker : some) add_plainly(speaker);
        } else if (are_doubles) {
            const Walkers<double> walkers(some, width, columns);
            in_portions(
                [&](std::size_t begin, std::size_t end) { walkers.run(begin, end, total, interrupt); });
        } else {
            const Walkers<float> walkers(some, width, columns);
            in_portions(
                [&](std::size_t begin, std::size_t end) { walkers.run(begin, end, total, interrupt); });
        }
    }
}

}  // namespace treewright
