// The walk of by_weights.cpp, included there once for each kind of processor: as the class WALK, its work
// compiled for WALK_TARGET. The sums are the same to the last bit: lanes do not mix, and nothing is fused.

/// One thread's walk through the whole tree, for some patterns at a time.
template <std::size_t K>
class WALK {
  public:
    using Points = typename Turns<K>::Points;
    using Sums = LaneArray<K>;  // one for each point and lane

    WALK(const Ways& ways, const Turns<K>& turns, const Wanted& wanted, Interrupt& interrupt)
        : ways_(ways),
          turns_(turns),
          wanted_(wanted),
          interrupt_(interrupt),
          width_(wanted.size()),
          lefts_(ways.branches.size()),
          is_on_(ways.parent.size()),
          down_(ways.deepest + 1),
          up_((ways.deepest + 1) * width_),
          here_(width_),
          due_(ways.columns.size() * width_) {}

    /// Adds to the lines found[slot][number] of the patterns from `first` on what these points contribute.
    void run(const Patterns& patterns, std::size_t first, std::size_t end, double* found,
             std::size_t length) {
        std::fill(lefts_.begin(), lefts_.end(), LaneBits{0});
        for (std::size_t i = first; i < end; ++i)
            for (std::size_t branch = 0; branch < lefts_.size(); ++branch)
                lefts_[branch] |= static_cast<LaneBits>(goes_left(patterns[i], branch) << (i - first));
        std::fill(due_.begin(), due_.end(), LaneArray<1>{});
        walk();
        for (std::size_t i = first; i < end; ++i)
            for (std::size_t j = 0; j < length; ++j) found[i * length + j] += due_[j][0][i - first];
    }

  private:
    WALK_TARGET void walk() {
        is_on_[0] = all_lanes;
        for (std::size_t k = 0; k < K; ++k) down_[0][k] = turns_.start[k] - Lanes{};
        const auto n = static_cast<std::int32_t>(ways_.parent.size());
        for (std::int32_t node = 0; node < n; ++node) {
            if (node > 0) go_down(node);
            if (ways_.slot[node] >= 0) continue;
            const std::size_t leaf = ways_.place[node];
            if (leaf % 4096 == 4095) interrupt_.check();
            const double* answer = wanted_.values.data() + leaf * width_;
            const Sums& product = down_[ways_.depth[node]];
            for (std::size_t i = 0; i < width_; ++i)
                for (std::size_t k = 0; k < K; ++k) here_[i][k] = answer[i] * product[k];
            go_up(node);
        }
    }

    /// The product at a child from that at its parent: the factor of the column changes by the turn.
    WALK_TARGET void go_down(std::int32_t node) {
        const std::int32_t parent = ways_.parent[node];
        const LaneBits above = is_on_[ways_.before[parent]], left = lefts_[ways_.place[parent]];
        const auto here = static_cast<LaneBits>(above & (node == parent + 1 ? left : left ^ all_lanes));
        is_on_[node] = here;
        const Sums& from = down_[ways_.depth[parent]];
        Sums& to = down_[ways_.depth[node]];
        const double share = turns_.share[node];
        if (above == 0) {
            for (std::size_t k = 0; k < K; ++k) to[k] = from[k] * share;
            return;
        }
        const Lanes &on = ones[here], &off = ones[above ^ here], &out = ones[above ^ all_lanes];
        const Points &taken = turns_.taken[node], &missed = turns_.missed[node];
        const Lanes fixed = share * out;
        for (std::size_t k = 0; k < K; ++k) to[k] = from[k] * (taken[k] * on + missed[k] * off + fixed);
    }

    /// `here_` is the sum below `node`: it waits for that of the right sibling, or joins that of the left
    /// one, and the column of the parent gets its due.
    WALK_TARGET void go_up(std::int32_t node) {
        for (std::int32_t parent; (parent = ways_.parent[node]) >= 0; node = parent) {
            Sums* sibling = up_.data() + ways_.depth[node] * width_;
            if (node == parent + 1) {
                std::copy(here_.begin(), here_.end(), sibling);
                return;
            }
            if (is_on_[ways_.before[parent]] != 0) {
                pay(parent, node, sibling);
                continue;
            }
            for (std::size_t i = 0; i < width_; ++i)
                for (std::size_t k = 0; k < K; ++k) here_[i][k] += sibling[i][k];
        }
    }

    /// What the column of `parent` gets or owes for the leaves below it, instead of what it had for them
    /// above.
    WALK_TARGET void pay(std::int32_t parent, std::int32_t right, const Sums* sibling) {
        const std::int32_t left = parent + 1;
        const Lanes &on_left = ones[is_on_[left]], &on_right = ones[is_on_[right]];
        const Points &by_left = turns_.gets[left], &by_right = turns_.gets[right], &owes = turns_.owes;
        const Points& before = turns_.gets[ways_.before[parent]];
        LaneArray<1>* due = due_.data() + ways_.slot[parent] * width_;
        for (std::size_t i = 0; i < width_; ++i) {
            Lanes of_left{}, of_right{};
            for (std::size_t k = 0; k < K; ++k) {
                const Lanes l = sibling[i][k], r = here_[i][k], both = l + r, had = both * before[k];
                of_left += l * by_left[k] + r * owes[k] - had;
                of_right += l * owes[k] + r * by_right[k] - had;
                here_[i][k] = both;
            }
            due[i][0] += on_left * of_left + on_right * of_right;
        }
    }

    const Ways& ways_;
    const Turns<K>& turns_;
    const Wanted& wanted_;
    Interrupt& interrupt_;
    std::size_t width_;
    std::vector<LaneBits> lefts_;  // by branch: who goes left
    std::vector<LaneBits> is_on_;  // whose values agree with this turn and those above it by the same column
    std::vector<Sums> down_, up_, here_;
    std::vector<LaneArray<1>> due_;
};
