// The pool of threads: every task once, failures handed on, interrupts heeded.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "support/threads.hpp"
#include "tables.hpp"

using namespace treewright;

TEST("threads: every task runs once, on a thread of the pool") {
    Interrupt interrupt = tables::undisturbed();
    for (const std::size_t n_threads : {1, 2, 5}) {
        Pool pool(n_threads, interrupt);
        CHECK(pool.size() <= n_threads);
        for (const std::size_t n_tasks : {0, 1, 2, 1000}) {
            std::vector<std::atomic<int>> runs(n_tasks);
            std::atomic<bool> is_foreign = false;
            pool.run(n_tasks, [&](std::size_t task, std::size_t thread) {
                ++runs[task];
                if (thread >= pool.size()) is_foreign = true;
            });
            for (const auto& n : runs) CHECK_EQUAL(n.load(), 1);
            CHECK(!is_foreign);
        }
    }
}

TEST("threads: an exception of a task reaches the caller, and the pool lives on") {
    Interrupt interrupt = tables::undisturbed();
    Pool pool(3, interrupt);
    const auto fail_at_17 = [](std::size_t task, std::size_t) {
        if (task == 17) throw std::out_of_range("17");
    };
    for (int round = 0; round < 20; ++round) CHECK_THROWS(std::out_of_range, pool.run(100, fail_at_17));
    std::atomic<int> n = 0;
    pool.run(100, [&](std::size_t, std::size_t) { ++n; });
    CHECK_EQUAL(n.load(), 100);
}

TEST("threads: an interrupt stops all of them") {
    std::atomic<bool> is_wanted = false;
    Interrupt interrupt([&] { return is_wanted.load(); });
    Pool pool(3, interrupt);
    const auto work = [&](std::size_t task, std::size_t) {
        if (task == 5) is_wanted = true;
        while (is_wanted) {  // a task without an end
            interrupt.check();
            std::this_thread::yield();
        }
    };
    CHECK_THROWS(Interrupted, pool.run(100, work));
    CHECK_THROWS(Interrupted, interrupt.check());
}

TEST("threads: progress is told as a share") {
    Interrupt interrupt = tables::undisturbed();
    CHECK_EQUAL(interrupt.share_done(), 0.0);
    interrupt.expect(8);
    interrupt.advance(2);
    CHECK_EQUAL(interrupt.share_done(), 0.25);
    interrupt.advance(100);
    CHECK_EQUAL(interrupt.share_done(), 1.0);
}
