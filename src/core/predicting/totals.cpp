// Sums over many trees: some thousand rows stay in cache while one tree after the other is walked.
#include "predicting/totals.hpp"

#include <algorithm>
#include <memory>

#include "predicting/walking.hpp"

namespace treewright {

namespace {

/// Rows that one thread takes through all trees: enough to pay for fetching each tree.
constexpr std::size_t portion = 4096;
/// Trees that are laid out at a time, by their nodes: to bound the memory.
constexpr std::size_t most_nodes = std::size_t{1} << 22;

/// Trees laid out for rows of one type of numbers.
template <class T>
class Walks {
  public:
    Walks(std::span<const Addend> addends, std::size_t width, const std::vector<Column>& columns)
        : rows_(columns), width_(width), addends_(addends) {
        for (const Addend& each : addends) trees_.push_back(rows_.fitted(*each.tree));
    }

    void run(std::size_t begin, std::size_t end, double* total, Interrupt& interrupt) const {
        for (std::size_t i = 0; i < trees_.size(); ++i) {
            interrupt.check();
            const double* lines = addends_[i].lines;
            switch (width_) {
                case 1:
                    add<1>(*trees_[i], lines, begin, end, total);
                    break;
                case 2:
                    add<2>(*trees_[i], lines, begin, end, total);
                    break;
                case 3:
                    add<3>(*trees_[i], lines, begin, end, total);
                    break;
                default:
                    add<0>(*trees_[i], lines, begin, end, total);
            }
        }
    }

  private:
    template <std::size_t known_width>
    void add(const NumberTree& tree, const double* lines, std::size_t begin, std::size_t end,
             double* total) const {
        const std::size_t width = known_width ? known_width : width_;
        typename NumberRows<T>::Places arrived;
        for (std::size_t first = begin; first < end; first += rows_.block) {
            const std::size_t n = std::min(rows_.block, end - first);
            rows_.walk(tree, first, n, std::min(rows_.block, end - first - n), arrived);
            double* to = total + first * width;
            for (std::size_t i = 0; i < n; ++i, to += width) {
                const double* const line = lines + tree.node(arrived[i]) * width;
                for (std::size_t k = 0; k < width; ++k) to[k] += line[k];
            }
        }
    }

    NumberRows<T> rows_;
    std::size_t width_;
    std::span<const Addend> addends_;
    std::vector<std::shared_ptr<const NumberTree>> trees_;
};

}  // namespace

void add_up(std::span<const Addend> addends, std::size_t width, const std::vector<Column>& columns,
            std::size_t n_rows, double* total, Pool& pool, Interrupt& interrupt) {
    const auto in_portions = [&](auto&& work) {
        pool.run((n_rows + portion - 1) / portion, [&](std::size_t task, std::size_t) {
            work(task * portion, std::min(n_rows, (task + 1) * portion));
        });
    };
    const auto walk = [&](const auto& walks) {
        in_portions([&](std::size_t begin, std::size_t end) { walks.run(begin, end, total, interrupt); });
    };
    const auto add_plainly = [&](const Addend& each) {
        in_portions([&](std::size_t begin, std::size_t end) {
            interrupt.check();
            for (std::size_t row = begin; row < end; ++row) {
                const std::size_t leaf = each.tree->leaf_of(columns, row);
                for (std::size_t k = 0; k < width; ++k)
                    total[row * width + k] += each.lines[leaf * width + k];
            }
        });
    };
    const bool are_doubles = NumberRows<double>::fit(columns);
    const bool are_numbers = are_doubles || NumberRows<float>::fit(columns);
    for (std::size_t first = 0, last; first < addends.size(); first = last) {
        std::size_t n_nodes = 0;
        bool pays = are_numbers;
        for (last = first; last < addends.size() && (last == first || n_nodes < most_nodes); ++last) {
            n_nodes += addends[last].tree->size();
            pays = pays && addends[last].tree->pays_to_lay_out(n_rows);
        }
        const auto some = addends.subspan(first, last - first);
        if (!pays) {
            for (const Addend& each : some) add_plainly(each);
        } else if (are_doubles) {
            walk(Walks<double>(some, width, columns));
        } else {
            walk(Walks<float>(some, width, columns));
        }
    }
}

}  // namespace treewright
