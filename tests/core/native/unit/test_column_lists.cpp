// Dividing a sorted list among children keeps its order, and the known rows before those without a value.
#include <vector>

#include "growers/constrained/column_lists.hpp"
#include "harness.hpp"

using namespace treewright;
using namespace treewright::constrained;

namespace {

ColumnList list_of(const std::vector<Id>& ids, std::size_t n_known) {
    ColumnList list(ids.size());
    std::copy(ids.begin(), ids.end(), list.ids.get());
    list.n_known = n_known;
    return list;
}

struct Part {
    std::vector<Id> ids;
    std::size_t n_known;

    bool operator==(const Part&) const = default;
};

/// By the definition, for one child.
Part part_of(const ColumnList& list, const Branches& branch, std::uint8_t child) {
    Part part{{}, 0};
    for (std::size_t i = 0; i < list.n; ++i) {
        const Id id = list.ids[i];
        if (branch[id] != child && branch[id] != all_branches) continue;
        part.ids.push_back(id);
        part.n_known += i < list.n_known;
    }
    return part;
}

/// Divides a list among so many children, of which some need no list.
bool divides(const ColumnList& list, const Branches& branch, const std::vector<bool>& is_wanted) {
    std::vector<ColumnList> parts(is_wanted.size());
    std::vector<ColumnList*> to(is_wanted.size(), nullptr);
    std::vector<Part> expected;
    for (std::size_t child = 0; child < to.size(); ++child) {
        expected.push_back(part_of(list, branch, static_cast<std::uint8_t>(child)));
        if (!is_wanted[child]) continue;
        parts[child] = ColumnList(expected[child].ids.size());
        to[child] = &parts[child];
    }
    divide_list(list, branch, to);
    for (std::size_t child = 0; child < to.size(); ++child) {
        if (!to[child]) continue;
        const ColumnList& found = parts[child];
        if (Part{{found.ids.get(), found.ids.get() + found.n}, found.n_known} != expected[child])
            return false;
    }
    return true;
}

}  // namespace

TEST("column lists: divided among two children or more, rows in all of them included") {
    const std::vector<Id> ids{7, 0, 3, 5, 1, 6, 2, 4};
    const Branches in_two{0, 1, 1, 0, 0, 1, 1, 0}, shared{0, 255, 1, 0, 255, 1, 1, 255},
        in_three{0, 1, 2, 255, 2, 1, 0, 2}, one_sided{1, 1, 1, 1, 1, 1, 1, 1};
    for (const std::size_t n_known : {0, 1, 5, 8}) {
        const ColumnList list = list_of(ids, n_known);
        for (const auto& wanted :
             {std::vector<bool>{true, true}, {true, false}, {false, true}, {false, false}})
            for (const auto& branch : {in_two, shared, one_sided}) CHECK(divides(list, branch, wanted));
        for (const auto& wanted : {std::vector<bool>{true, true, true}, {true, false, true}})
            CHECK(divides(list, in_three, wanted));
    }
}

TEST("column lists: of no rows") { CHECK(divides(list_of({}, 0), {}, {true, true})); }
