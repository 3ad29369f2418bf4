// A forest as the search for its born-again tree sees it: cuts instead of numbers, boxes of cells, votes.
//
// The thresholds that the trees ask of a column cut it into cells: cell c lies between cut c - 1 and cut c. A
// box is a range of cells of each column, and whatever the forest can tell apart is a box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace treewright::born_again {

/// A node of a tree: cells up to `cut` of `column` go left. A leaf has column -1 and its number in `left`.
struct Node {
    std::int32_t column = -1, cut = 0, left = 0, right = 0;
};

struct Forest {
    std::vector<Node> nodes;           // of all trees
    std::vector<std::int32_t> roots;   // one for each tree
    std::vector<double> votes;         // (leaves, classes): what a leaf adds to each class
    std::vector<std::int32_t> n_cuts;  // of each column
    std::size_t n_leaves = 0, n_classes = 0;

    // What follows from them, by `prepare`:
    std::vector<std::int32_t> first_cut;  // of each column among all cuts, and their number at the end
    std::vector<std::int32_t> alike;      // the first leaf of the same tree with the same votes
    bool is_whole = false;                // votes are whole numbers: sums are exact in any order
    double slack = 0;                     // how far rounding can move a sum of votes

    void prepare();
    void find_alike();
    std::size_t n_columns() const { return n_cuts.size(); }
    std::span<const double> votes_of(std::int32_t leaf) const {
        return {votes.data() + leaf * n_classes, n_classes};
    }
};

/// The cells low … high of each column.
struct Box {
    std::vector<std::int32_t> low, high;
};

/// The box of everything.
Box whole_box(const Forest& forest);

/// What of a forest a box reaches.
struct View {
    std::vector<std::uint64_t> key;   // the same for boxes in which the forest answers alike, cut for cut
    std::vector<std::uint64_t> cuts;  // bits of the cuts that still tell something apart
    std::vector<std::int32_t> top;    // of each tree, the node at which the rows of the box first part
    std::vector<std::int32_t> leaves, first_leaf;  // that are reached, tree by tree

    Box inside;                   // room to look: the box below a node,
    std::vector<double> settled;  // and votes that are the same in all of it
};

/// Looks at a forest through a box.
void look(const Forest& forest, const Box& box, View& view);

/// Words of a key.
std::size_t key_words(const Forest& forest);

/// The cuts of one column that still tell something apart, ascending.
void cuts_of(const Forest& forest, const View& view, std::size_t column, std::vector<std::int32_t>& cuts);

/// The class with most votes in a cell, the first among equals; votes are added up in the order of the trees.
std::int32_t answer(const Forest& forest, std::span<const std::int32_t> top,
                    std::span<const std::int32_t> cell, std::vector<double>& sums);

/// Whether bounds alone show that `winner` wins in every cell of what is seen.
bool surely_wins(const Forest& forest, const View& view, std::int32_t winner);

}  // namespace treewright::born_again
