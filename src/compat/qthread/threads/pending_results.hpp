// SPDX-License-Identifier: Apache-2.0
// The last threads that a qthread has forked. It can run one of them where it would wait for its
// result: the call then costs no switch, and the waiting thread no second stack. That is as if the
// reader waited and its worker ran the other thread meanwhile, but for its stack, which must have
// as much room as a qthread is promised.
// And it yields to them before others, the newest first: programs that wait for their children by
// yields, as Chapel's do, go through a tree of them in depth, with few stacks at a time.
// Only the qthread itself touches these.
#pragma once

#include <array>
#include <cstddef>

namespace tulle::detail {
struct thread_core;
}

namespace tulle::compat {

class pending_results {
public:
    pending_results() noexcept = default;
    pending_results(pending_results const&) = delete;
    pending_results& operator=(pending_results const&) = delete;
    ~pending_results() {
        if (m_count != 0) drop_all();
    }

    // `child` is to fill `word`, if that is not null. Its handle belongs to this object from now
    // on; the oldest one goes if there are too many.
    void add(void const* word, detail::thread_core* child) noexcept {
        std::size_t const at = m_next++ % k_most;
        if (m_entries[at].child != nullptr) drop(m_entries[at]);
        m_entries[at] = {word, child};
        ++m_count;
    }
    [[nodiscard]] bool empty() const noexcept { return m_count == 0; }
    // Runs the thread that is to fill `word`, if it is one of these, and nobody has begun it, and
    // there is room for it on the caller's stack.
    void run_for(void const* word) noexcept {
        if (m_count != 0) find_and_run(word);
    }
    // Yields to the newest one that nobody has begun. False: there is none, or it is time to yield
    // to others.
    [[nodiscard]] bool yield() noexcept { return m_count != 0 && yield_to_newest(); }

private:
    static constexpr std::size_t k_most = 4; // a power of two

    // `word` is set with `child`: every qthread makes some of these, and few use them.
    struct entry {
        entry() noexcept {}
        entry(void const* its_word, detail::thread_core* its_child) noexcept
            : word(its_word), child(its_child) {}

        void const* word;
        detail::thread_core* child = nullptr; // null: none
    };
    void drop(entry& e) noexcept;
    void drop_all() noexcept;
    void find_and_run(void const* word) noexcept;
    bool yield_to_newest() noexcept;

    std::array<entry, k_most> m_entries;
    std::size_t m_next = 0, m_count = 0;
};

// Of the calling qthread, if it is one.
[[nodiscard]] bool has_pending_results() noexcept;
void run_pending_result(void const* word) noexcept;

} // namespace tulle::compat
