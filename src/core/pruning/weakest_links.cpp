// Weakest-link pruning in one bottom-up pass.
#include "pruning/weakest_links.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "support/portable.hpp"

namespace treewright {

namespace {

constexpr double same_level = 1e-12, same_loss = 2e-15;
constexpr std::int32_t none = -1;

/// What a node loses and saves when it collapses together with the links that it took in.
template <class Number>
struct Link {
    Number fall = 0, saved = 0;

    double level() const { return static_cast<double>(fall) / static_cast<double>(saved); }
    bool breaks_before(const Link& other) const {
        if constexpr (std::is_integral_v<Number>)
            return static_cast<Int128>(fall) * other.saved < static_cast<Int128>(other.fall) * saved;
        else
            return level() < other.level();
    }
};

/// A pairing heap of each subtree: all heaps live in two arrays by node. Of equal links the one that was
/// there first stays on top.
template <class Number>
class Heaps {
  public:
    explicit Heaps(const std::vector<Link<Number>>& links)
        : links_(links), child_(links.size(), none), sibling_(links.size(), none) {}

    std::int32_t meld(std::int32_t a, std::int32_t b) {
        if (a == none) return b;
        if (b == none) return a;
        if (links_[a].breaks_before(links_[b])) std::swap(a, b);
        sibling_[b] = child_[a];
        child_[a] = b;
        return a;
    }
    /// The heap without its top: its children are melded two by two, then all into one.
    std::int32_t pop(std::int32_t top) {
        std::int32_t pairs = none;
        for (std::int32_t a = child_[top]; a != none;) {
            const std::int32_t b = sibling_[a], next = b == none ? none : sibling_[b];
            sibling_[a] = none;
            if (b != none) sibling_[b] = none;
            const std::int32_t pair = meld(a, b);
            sibling_[pair] = pairs;
            pairs = pair;
            a = next;
        }
        std::int32_t all = none;
        while (pairs != none) {
            const std::int32_t next = sibling_[pairs];
            sibling_[pairs] = none;
            all = meld(all, pairs);
            pairs = next;
        }
        return all;
    }

  private:
    const std::vector<Link<Number>>& links_;
    std::vector<std::int32_t> child_, sibling_;
};

/// A link that breaks by itself, and its level.
using Standing = std::pair<double, std::int32_t>;

/// The links that break by themselves, the weakest first; `links` says what each node loses and saves.
template <class Number>
std::vector<Standing> pool(Shape end, std::span<const double> loss, std::span<const double> cost,
                           std::vector<Link<Number>>& links, Interrupt& interrupt) {
    links.resize(end.size());
    Heaps<Number> heaps(links);
    std::vector<std::int32_t> top(end.size(), none);
    std::vector<char> stands(end.size(), 0);
    for_each_branch(end, [&](std::int32_t node, std::int32_t left, std::int32_t right) {
        auto& link = links[node];
        link.fall = static_cast<Number>(loss[node] - loss[left] - loss[right]);
        link.saved = static_cast<Number>(cost.empty() ? 1.0 : cost[node]);
        std::int32_t heap = heaps.meld(top[left], top[right]);
        while (heap != none && !links[heap].breaks_before(link)) {
            link.fall += links[heap].fall;
            link.saved += links[heap].saved;
            stands[heap] = 0;
            heap = heaps.pop(heap);
        }
        stands[node] = 1;
        top[node] = heaps.meld(heap, node);
        if (node % 1024 == 0) interrupt.check();
    });
    std::vector<Standing> standing;
    for (std::size_t node = 0; node < end.size(); ++node)
        if (stands[node]) standing.emplace_back(links[node].level(), static_cast<std::int32_t>(node));
    std::sort(standing.begin(), standing.end());
    return standing;
}

/// The steps of the path: links of one level break together. Returns the step of each standing link; the
/// largest number at all other nodes.
template <class Number>
std::vector<std::int32_t> make_steps(const std::vector<Standing>& standing,
                                     const std::vector<Link<Number>>& links, double largest_loss,
                                     WeakestLinks& out) {
    std::vector<std::int32_t> step(links.size(), std::numeric_limits<std::int32_t>::max());
    double last = 0.0;
    for (const auto& [own, node] : standing) {
        const double level = std::max(own, 0.0);
        const double rounding =
            std::is_integral_v<Number> ? 0.0 : same_level * level + same_loss * largest_loss;
        if (level - last > rounding) {
            out.alpha.push_back(level);
            out.loss.push_back(out.loss.back());
        } else if (out.alpha.size() > 1) {
            out.alpha.back() = level;  // the last of a run stands for all
        }
        out.loss.back() += static_cast<double>(links[node].fall);
        step[node] = static_cast<std::int32_t>(out.alpha.size()) - 1;
        last = level;
    }
    return step;
}

template <class Number>
WeakestLinks find(Shape end, std::span<const double> loss, std::span<const double> cost,
                  Interrupt& interrupt) {
    std::vector<Link<Number>> links;
    const auto standing = pool<Number>(end, loss, cost, links, interrupt);
    WeakestLinks out;
    out.alpha = out.loss = {0.0};
    double largest = 0;
    for (std::size_t node = 0; node < end.size(); ++node) {
        if (is_leaf(end, node)) out.loss[0] += loss[node];
        largest = std::max(largest, std::abs(loss[node]));
    }
    auto step = make_steps(standing, links, largest, out);
    out.level.assign(end.size(), std::numeric_limits<double>::infinity());
    std::vector<std::int64_t> n_gone(out.alpha.size(), 0);  // branches that go at each step
    for (std::int32_t node = 0; node < n_nodes(end); ++node) {
        if (is_leaf(end, node)) continue;
        for (const std::int32_t child : {node + 1, end[node + 1]})
            step[child] = std::min(step[child], step[node]);
        out.level[node] = out.alpha[step[node]];
        ++n_gone[step[node]];
    }
    std::int64_t n_leaves = (std::ssize(end) + 1) / 2;
    for (const auto gone : n_gone) out.leaves.push_back(n_leaves -= gone);
    return out;
}

}  // namespace

bool are_whole(std::span<const double> numbers) {
    constexpr double too_many = 0x1p53;
    double total = 0;
    for (const double number : numbers) {
        total += std::abs(number);
        if (!(total < too_many) || number != std::trunc(number)) return false;
    }
    return true;
}

WeakestLinks weakest_links(Shape end, std::span<const double> loss, std::span<const double> cost,
                           Interrupt& interrupt) {
    return are_whole(loss) && are_whole(cost) ? find<std::int64_t>(end, loss, cost, interrupt)
                                              : find<double>(end, loss, cost, interrupt);
}

}  // namespace treewright
