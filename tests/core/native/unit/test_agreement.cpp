// What all rows agree on follows from facts of any parts of them.
#include <vector>

#include "data/agreement.hpp"
#include "data/grids.hpp"
#include "harness.hpp"
#include "node_tables.hpp"

using namespace treewright;

namespace {

/// The agreement of blocks that tell their facts, and answer what is asked then, in any order.
Agreement agree_by_blocks(tables::RandomTable& table, const NumberGrids& number_grids, int& n_questions) {
    auto blocks = table.blocks();
    for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[table.random().below(i)]);
    Facts all = facts_of(blocks.front()->problem, number_grids);
    for (std::size_t i = 1; i < blocks.size(); ++i) all.join(facts_of(blocks[i]->problem, number_grids));
    for (n_questions = 0;; ++n_questions) {
        Agreement agreement = agree(all);
        if (!agreement.question) return agreement;
        double largest = 0;
        for (const auto& block : blocks)
            largest = std::max(largest, answer(block->problem, *agreement.question));
        all.answers.push_back(largest);
    }
}

void compare(const Agreement& wanted, const Agreement& found) {
    CHECK_EQUAL(found.n_counted, wanted.n_counted);
    CHECK_EQUAL(found.is_weighted, wanted.is_weighted);
    CHECK(found.n_classes == wanted.n_classes);
    CHECK(found.columns == wanted.columns);
    CHECK(found.is_mixed == wanted.is_mixed);
    CHECK_EQUAL(found.has_bins(), wanted.has_bins());
    CHECK(found.grids.weight == wanted.grids.weight);
    CHECK(found.grids.number == wanted.grids.number);
    CHECK_EQUAL(found.grids.square_unit, wanted.grids.square_unit);
    CHECK_EQUAL(found.most_excerpted(1000), wanted.most_excerpted(1000));
}

}  // namespace

TEST("agreement: facts of any parts of the rows tell what those of all rows tell") {
    std::uint64_t seed = 0;
    for (const auto weights : {tables::Weights::none, tables::Weights::counts, tables::Weights::real})
        for (const std::int32_t n_classes : {0, 2, 10})
            for (const std::size_t n : {1, 2, 7, 40, 400, 900})
                for (const bool are_centred : {false, true}) {
                    tables::RandomTable table(n, n_classes, weights, ++seed);
                    const NumberGrids grids{n_classes == 0, are_centred, are_centred};
                    int n_questions = 0;
                    const Agreement wanted = agree_on(table.problem, grids);
                    if (table.problem.rows.empty()) continue;
                    compare(wanted, agree_by_blocks(table, grids, n_questions));
                    const bool asks = n_classes == 0 && weights != tables::Weights::none;
                    CHECK_EQUAL(n_questions, !asks ? 0 : are_centred ? 3 : 1);
                }
}

TEST("agreement: the grids are those that the rows of a table have in one place") {
    for (const auto weights : {tables::Weights::none, tables::Weights::real}) {
        tables::RandomTable table(500, 0, weights, 77);
        const Problem& problem = table.problem;
        const Agreement agreement = agree_on(problem, {true, true, true});
        CHECK(agreement.grids.weight == weight_grid(problem, problem.rows));
        CHECK(agreement.grids.number == number_grid(problem, problem.rows, 0, true));
    }
}

TEST("agreement: facts of columns join") {
    Facts one, other, nothing;
    one.n_rows = other.n_rows = 1;
    one.columns = {{Column::Type::float32, 0, true}, {Column::Type::code, 3, true}};
    other.columns = {{Column::Type::float64, 0, true}, {Column::Type::code, 300, false}};
    one.is_mixed.assign(512, 0);
    other.is_mixed = one.is_mixed;
    one.is_mixed[7] = other.is_mixed[9] = 1;
    one.join(nothing);
    nothing.join(one);
    nothing.join(other);
    const Agreement agreement = agree(nothing);
    CHECK((agreement.columns ==
           std::vector<ColumnFacts>{{Column::Type::float64, 0, true}, {Column::Type::code, 300, false}}));
    CHECK(agreement.is_mixed_of(0)[7] && agreement.is_mixed_of(0)[9] && !agreement.is_mixed_of(0)[8]);
}
