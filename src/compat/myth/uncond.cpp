// SPDX-License-Identifier: Apache-2.0
// A meeting of one thread that waits and one that signals, whichever comes first. One word:
//   0                            nobody is here
//   the address of a node        a thread waits
//   the address of a node, | 1   a thread signals and waits for the one to be woken; its node names
//                                the signaller before it
// A thread that finds a partner takes the partner's node off the word and wakes it. A node lies in
// the frame of the thread that waits, and is that thread's own again once it has been woken.
// Signallers only push, and one waiter at a time takes from them, so that a node that it has seen
// on the word is not gone and back meanwhile.
#include "compat/myth/library.hpp"

#include <tulle/signal.hpp>

#include <atomic>

namespace tulle::myth {
namespace {

struct meeting_node {
    std::uintptr_t before = 0; // a signaller's: the word that it found
    signal met{1};
};

constexpr std::uintptr_t k_signals = 1;

bool is_waiter(std::uintptr_t word) noexcept { return word != 0 && (word & k_signals) == 0; }

meeting_node& node_in(std::uintptr_t word) noexcept {
    return *reinterpret_cast<meeting_node*>(word & ~k_signals); // NOLINT(performance-no-int-to-ptr)
}
std::uintptr_t word_of(meeting_node const& n) noexcept {
    return reinterpret_cast<std::uintptr_t>(&n);
}

// acq_rel, all: who takes a node sees what its owner wrote into it, and what it did before.
bool replace(std::atomic_ref<std::uintptr_t> word, std::uintptr_t& seen,
             std::uintptr_t wanted) noexcept {
    return word.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                      std::memory_order_acquire);
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_uncond_init(myth_uncond_t* uncond) {
    if (uncond == nullptr) return EINVAL;
    uncond->waiting = 0;
    return 0;
}

int myth_uncond_destroy(myth_uncond_t* uncond) {
    if (uncond == nullptr) return EINVAL;
    // relaxed: only looked at
    return std::atomic_ref(uncond->waiting).load(std::memory_order_relaxed) == 0 ? 0 : EBUSY;
}

int myth_uncond_wait(myth_uncond_t* uncond) {
    if (uncond == nullptr) return EINVAL;
    if (int const error = ensure_started()) return error;
    std::atomic_ref const word(uncond->waiting);
    meeting_node self;
    std::uintptr_t seen = word.load(std::memory_order_acquire); // pairs with replace
    for (;;) {
        if (is_waiter(seen)) return EBUSY;
        bool const comes_first = seen == 0;
        if (!replace(word, seen, comes_first ? word_of(self) : node_in(seen).before)) continue;
        if (comes_first)
            self.met.wait();
        else
            node_in(seen).met.notify();
        return 0;
    }
}

int myth_uncond_signal(myth_uncond_t* uncond) {
    if (uncond == nullptr) return EINVAL;
    if (int const error = ensure_started()) return error;
    std::atomic_ref const word(uncond->waiting);
    meeting_node self;
    std::uintptr_t seen = word.load(std::memory_order_acquire); // pairs with replace
    for (;;) {
        bool const has_waiter = is_waiter(seen);
        self.before = seen;
        if (!replace(word, seen, has_waiter ? 0 : word_of(self) | k_signals)) continue;
        if (has_waiter)
            node_in(seen).met.notify();
        else
            self.met.wait();
        return 0;
    }
}
