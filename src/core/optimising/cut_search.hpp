// Trees of three levels and more: strips of first cuts, the one with the least bound next.
#pragma once

#include <memory>

#include "optimising/search.hpp"
#include "support/threads.hpp"

namespace treewright::optimising {

/// With a pool, several strips are tried at once: the weakest ones, as many for any number of threads.
class CutSearch final : public NodeSearch {
  public:
    CutSearch(const Table& table, int depth, Loss leaf_price, Budget& budget, Pool* pool = nullptr);
    ~CutSearch() override;

    void enter(const NodeRows& rows, const Ask& ask, std::vector<Loss>& by_view) override;
    void refine(Loss target, std::int64_t effort, std::vector<Loss>& by_view) override;
    Facts facts() const override;
    FoundTree tree() override;

  private:
    class Strips;
    std::unique_ptr<Strips> strips_;
};

/// Searches trees of so many levels.
std::unique_ptr<NodeSearch> make_search(const Table& table, int depth, Loss leaf_price, Budget& budget);

}  // namespace treewright::optimising
