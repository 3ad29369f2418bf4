// Absolute error: Σ w·|y − median|.
#include "searching.hpp"

namespace treewright {

struct AbsoluteError {
    static constexpr std::string_view name = "absolute_error";

    static double loss(double y, double value) { return std::abs(y - value); }
    static std::unique_ptr<Searcher> make_searcher(const Problem& problem) {
        return std::make_unique<ListSearcher<MedianScanner, false>>(problem);
    }
    static std::unique_ptr<careful::ColumnSearcher> make_careful_searcher(const careful::Task& task) {
        return careful::make_searcher<MedianScanner<careful::Id>>(task);
    }
};

static const Enlist<AbsoluteError> enlisted;

}  // namespace treewright
