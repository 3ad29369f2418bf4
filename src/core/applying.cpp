// Sending rows down a finished tree, a block of rows at a time.
#include "applying.hpp"

#include <algorithm>

#include "walking.hpp"

namespace treewright {

namespace {

template <class T>
class NumberWalk {
  public:
    NumberWalk(const Routes& routes, const std::vector<Column>& columns)
        : rows_(columns), tree_(routes, rows_.offsets()) {}

    void run(std::size_t begin, std::size_t end, std::int32_t* leaf) const {
        constexpr std::size_t block = NumberRows<T>::block;
        typename NumberRows<T>::Places arrived;
        for (std::size_t first = begin; first < end; first += block) {
            const std::size_t n = std::min(block, end - first);
            rows_.walk(tree_, first, n, arrived);
            for (std::size_t i = 0; i < n; ++i) leaf[first + i] = tree_.node(arrived[i]);
        }
    }

  private:
    NumberRows<T> rows_;
    NumberTree<T> tree_;
};

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
    // To lay the tree out anew takes about as long as some rows.
    const bool is_worth_it = n_rows > 1 + routes.end.size() / 16;
    if (is_worth_it && NumberRows<double>::fit(columns)) {
        const NumberWalk<double> walk(routes, columns);
        in_blocks([&](std::size_t begin, std::size_t end) { walk.run(begin, end, leaf); });
    } else if (is_worth_it && NumberRows<float>::fit(columns)) {
        const NumberWalk<float> walk(routes, columns);
        in_blocks([&](std::size_t begin, std::size_t end) { walk.run(begin, end, leaf); });
    } else {
        in_blocks([&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) leaf[row] = leaf_of(routes, columns, row);
        });
    }
}

}  // namespace treewright
