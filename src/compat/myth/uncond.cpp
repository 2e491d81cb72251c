// SPDX-License-Identifier: Apache-2.0
// A meeting of one thread that waits and one that signals, whichever comes first. One word:
//   0                            nobody is here
//   the address of a node        a thread waits
//   the address of a node, | 1   a thread signals and waits for the one to be woken; its node names
//                                the signaller before it
//   the same, | 2              a thread has come to wait, and takes the first node off
// A thread that finds a partner takes the partner's node off the word and wakes it. A node lies in
// the frame of the thread that waits, and is that thread's own again once it has been woken.
// Signallers only push, and one waiter at a time takes from them, which has said so on the word
// before it looks at a node: so no node that it has seen is gone meanwhile.
#include "compat/myth/library.hpp"

#include <tulle/signal.hpp>

#include <atomic>

namespace tulle::myth {
namespace {

struct meeting_node {
    std::uintptr_t before = 0; // a signaller's: the word that it found, without a claim
    signal met{1};
};

constexpr std::uintptr_t k_signals = 1;
constexpr std::uintptr_t k_claimed = 2;
constexpr std::uintptr_t k_bits = k_signals | k_claimed;
static_assert(alignof(meeting_node) > k_bits);

bool is_waiter(std::uintptr_t word) noexcept { return word != 0 && (word & k_signals) == 0; }

meeting_node& node_in(std::uintptr_t word) noexcept {
    return *reinterpret_cast<meeting_node*>(word & ~k_bits); // NOLINT(performance-no-int-to-ptr)
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

// By the thread that has claimed the word, which it was seen to have last. Gives the claim back.
meeting_node& take_first(std::atomic_ref<std::uintptr_t> word, std::uintptr_t seen) noexcept {
    while (!replace(word, seen, node_in(seen).before)) continue; // another one has come to signal
    return node_in(seen);
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
        if (is_waiter(seen) || (seen & k_claimed) != 0) return EBUSY;
        bool const comes_first = seen == 0;
        if (!replace(word, seen, comes_first ? word_of(self) : seen | k_claimed)) continue;
        if (comes_first)
            self.met.wait();
        else
            take_first(word, seen | k_claimed).met.notify();
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
        std::uintptr_t const claim = has_waiter ? 0 : seen & k_claimed;
        self.before = seen & ~k_claimed;
        if (!replace(word, seen, has_waiter ? 0 : word_of(self) | k_signals | claim)) continue;
        if (has_waiter)
            node_in(seen).met.notify();
        else
            self.met.wait();
        return 0;
    }
}
