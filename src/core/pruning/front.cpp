// The front of size and loss by a knapsack over the tree.
#include "pruning/front.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "pruning/weakest_links.hpp"
#include "support/portable.hpp"

namespace treewright {

namespace {

constexpr double same_loss = 2e-15;

/// Bytes that hold a number of leaves up to `most`.
std::size_t bytes_for(std::int32_t most) { return most < 1 << 8 ? 1 : most < 1 << 16 ? 2 : 4; }

/// Bytes of the choices at a branch: one number for each entry of its list but the first; none where one
/// child has no choice.
std::size_t choice_bytes(std::int32_t length, std::int32_t shorter) {
    return shorter > 1 ? (length - 1) * bytes_for(shorter) : 0;
}

void write_choice(std::uint32_t choice, std::uint8_t* out, std::size_t width) {
    for (std::size_t byte = 0; byte < width; ++byte)
        out[byte] = static_cast<std::uint8_t>(choice >> 8 * byte);
}
std::uint32_t read_choice(const std::uint8_t* in, std::size_t width) {
    std::uint32_t choice = 0;
    for (std::size_t byte = 0; byte < width; ++byte)
        choice |= static_cast<std::uint32_t>(in[byte]) << 8 * byte;
    return choice;
}

/// out[j] = min(out[j], more + list[j])
void lower(double* TREEWRIGHT_RESTRICT out, const double* TREEWRIGHT_RESTRICT list, double more,
           std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
        const double sum = more + list[j];
        out[j] = sum < out[j] ? sum : out[j];
    }
}

/// The lists of the subtrees whose parents are still to come, one after the other: those of a branch's two
/// children lie at the end, the left one last. Entry i of a list is the least loss with i + 1 leaves; between
/// two falls the loss stays exactly what it was.
class Knapsack {
  public:
    Knapsack(Shape end, std::span<const double> loss, const FrontLimits& limits, Interrupt& interrupt)
        : loss_(loss), limits_(limits), interrupt_(interrupt), room_(end.size()) {
        check_shape(end);
        double largest = 0;
        for (const double each : loss) largest = std::max(largest, std::abs(each));
        rounding_ = are_whole(loss) ? 0.0 : same_loss * largest;
        front_.length.resize(end.size());
        find_room(end);
        fill(end);
    }

    Front&& take() {
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (is_fall(entries_, i)) {
                front_.leaves.push_back(i + 1);
                front_.loss.push_back(entries_[i]);
            }
        return std::move(front_);
    }

  private:
    using List = std::span<const double>;

    static bool is_fall(List list, std::size_t i) { return i == 0 || list[i] < list[i - 1]; }

    /// The most leaves that a subtree can have: each branch above it has one elsewhere.
    void find_room(Shape end) {
        const auto n = std::ssize(end);
        room_[0] = static_cast<std::int32_t>(std::clamp<std::int64_t>(limits_.max_leaves, 1, n));
        for (std::int32_t node = 0; node < n; ++node)
            if (!is_leaf(end, node)) room_[node + 1] = room_[end[node + 1]] = std::max(room_[node] - 1, 1);
    }
    void fill(Shape end) {
        for (std::int32_t node = n_nodes(end); node-- > 0;) {
            if (is_leaf(end, node)) {
                entries_.push_back(loss_[node]);
                front_.length[node] = 1;
            } else {
                join(node, front_.length[node + 1], front_.length[end[node + 1]]);
            }
            if (node % 256 == 0) interrupt_.check();
        }
    }
    void join(std::int32_t node, std::int32_t n_left, std::int32_t n_right) {
        const List left(entries_.data() + entries_.size() - n_left, n_left);
        const List right(left.data() - n_right, n_right);
        const List shorter = n_left <= n_right ? left : right, longer = n_left <= n_right ? right : left;
        add(node, shorter, longer);
        const auto length = trim();
        front_.length[node] = static_cast<std::int32_t>(length);
        if (limits_.keeps_choices) keep_choices(shorter, longer, length);
        entries_.resize(entries_.size() - n_left - n_right);
        entries_.insert(entries_.end(), joined_.begin(), joined_.begin() + length);
    }
    /// The least sum for every number of leaves. What the shorter list offers between its falls is no better
    /// than what it offers with fewer leaves.
    void add(std::int32_t node, List shorter, List longer) {
        const std::size_t n = std::min<std::size_t>(shorter.size() + longer.size(), room_[node]);
        joined_.assign(n, std::numeric_limits<double>::infinity());
        joined_[0] = loss_[node];
        constexpr std::size_t long_work = std::size_t{1} << 20;
        std::size_t work = 0;
        for (std::size_t i = 0; i < shorter.size() && i + 1 < n; ++i) {
            if (!is_fall(shorter, i)) continue;
            const std::size_t n_sums = std::min(longer.size(), n - 1 - i);
            lower(joined_.data() + i + 1, longer.data(), shorter[i], n_sums);
            if ((work += n_sums) < long_work) continue;
            interrupt_.check();
            work = 0;
        }
    }
    /// Levels what does not fall, and returns the length without the level end.
    std::size_t trim() {
        std::size_t length = 1;
        for (std::size_t i = 1; i < joined_.size(); ++i) {
            if (joined_[i] < joined_[i - 1] - rounding_)
                length = i + 1;
            else
                joined_[i] = joined_[i - 1];
        }
        return length;
    }
    /// Writes how many leaves the shorter list gets at each fall, and 0 between.
    void keep_choices(List shorter, List longer, std::size_t length) {
        const auto most = static_cast<std::int32_t>(shorter.size());
        const std::size_t bytes = choice_bytes(static_cast<std::int32_t>(length), most);
        if (bytes == 0) return;
        auto& choices = front_.choices;
        if (choices.size() + bytes > limits_.max_bytes)
            throw TooManyChoices("the front of this tree takes more than " +
                                 std::to_string(limits_.max_bytes >> 20) +
                                 " MB; pass max_leaf_nodes to find its part of small trees");
        falls_.clear();
        for (std::size_t i = 0; i < shorter.size(); ++i)
            if (is_fall(shorter, i)) falls_.push_back(static_cast<std::uint32_t>(i));
        choices.resize(choices.size() + bytes, 0);
        std::uint8_t* const out = choices.data() + choices.size() - bytes;
        const std::size_t width = bytes_for(most);
        std::size_t work = 0;
        for (std::size_t i = 1; i < length; ++i) {
            if (!is_fall(joined_, i)) continue;
            write_choice(choice_at(i, shorter, longer) + 1, out + (i - 1) * width, width);
            constexpr std::size_t long_work = std::size_t{1} << 20;
            if ((work += falls_.size()) < long_work) continue;
            interrupt_.check();
            work = 0;
        }
    }
    std::uint32_t choice_at(std::size_t i, List shorter, List longer) const {
        const std::size_t least = i > longer.size() ? i - longer.size() : 0;
        auto choice = std::lower_bound(falls_.begin(), falls_.end(), least);
        while (shorter[*choice] + longer[i - 1 - *choice] != joined_[i]) ++choice;
        return *choice;
    }

    std::span<const double> loss_;
    const FrontLimits& limits_;
    Interrupt& interrupt_;
    double rounding_ = 0;
    std::vector<std::int32_t> room_;
    std::vector<double> entries_, joined_;
    std::vector<std::uint32_t> falls_;  // of the shorter list
    Front front_;
};

[[noreturn]] void refuse() {
    throw std::invalid_argument(
        "length and choices are not those of this tree, or no point of its front has "
        "that many leaves");
}

/// Where each branch's choices begin.
std::vector<std::size_t> choice_starts(Shape end, std::span<const std::int32_t> length, std::size_t n_bytes) {
    if (std::any_of(length.begin(), length.end(), [](std::int32_t n) { return n < 1; })) refuse();
    std::vector<std::size_t> start(end.size());
    std::size_t next = 0;
    for_each_branch(end, [&](std::int32_t node, std::int32_t left, std::int32_t right) {
        start[node] = next;
        next += choice_bytes(length[node], std::min(length[left], length[right]));
    });
    if (next != n_bytes) refuse();
    return start;
}

}  // namespace

Front find_front(Shape end, std::span<const double> loss, const FrontLimits& limits, Interrupt& interrupt) {
    return Knapsack(end, loss, limits, interrupt).take();
}

std::vector<std::int32_t> front_pruning(Shape end, std::span<const std::int32_t> length,
                                        std::span<const std::uint8_t> choices, std::int64_t leaves) {
    const auto start = choice_starts(end, length, choices.size());
    const std::int32_t n = n_nodes(end);
    std::vector<std::int32_t> granted(end.size()), pruned;
    if (leaves < 1 || leaves > length[0]) refuse();
    granted[0] = static_cast<std::int32_t>(leaves);
    for (std::int32_t node = 0; node < n;) {
        if (granted[node] < 1 || granted[node] > length[node]) refuse();
        if (granted[node] == 1) {
            if (!is_leaf(end, node)) pruned.push_back(node);
            node = end[node];
            continue;
        }
        if (is_leaf(end, node)) refuse();
        const std::int32_t left = node + 1, right = end[left];
        const std::int32_t shorter = length[left] <= length[right] ? left : right;
        std::uint32_t choice = 1;
        if (length[shorter] > 1) {
            const std::size_t width = bytes_for(length[shorter]);
            choice = read_choice(&choices[start[node] + (granted[node] - 2) * width], width);
        }
        granted[shorter] = static_cast<std::int32_t>(choice);
        granted[left + right - shorter] = granted[node] - granted[shorter];
        ++node;
    }
    return pruned;
}

}  // namespace treewright
