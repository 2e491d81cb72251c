// SPDX-License-Identifier: Apache-2.0
// A ring with an index for each side (Lamport 1983, doi:10.1145/69624.357207); each side keeps a copy of the other's index, and reads the
// real one only when the copy says that there is nothing to do (FastForward's idea, as in Lee and others 2010).
// A side that has nothing to do for long says so and sleeps. A1: it sets its flag, A2: and looks at the other's index once more. B1: the
// other moves its index, B2: and looks at the flag. All are sequentially consistent: either A2 sees the new index, or B2 the flag.
#include <qthread/qswsrqueue.h>
#include <qthread/qthread.h>

#include <tulle/semaphore.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

namespace {

// One side: how far it is, and whether it sleeps. Indices only grow; 64 bits do not wrap around.
struct alignas(64) ring_side {
    std::atomic<std::uint64_t> index{0};
    std::uint64_t other = 0; // the other side's index as this side has last seen it
    std::atomic<bool> sleeps{false};
    tulle::binary_semaphore wake{0};

    void move_on(std::uint64_t to, ring_side& sleeper) noexcept {
        index.store(to, std::memory_order_seq_cst);                            // B1; release: pairs with look()
        if (sleeper.sleeps.load(std::memory_order_seq_cst)) sleeper.wake_up(); // B2
    }
    void wake_up() noexcept {
        // acq_rel: whoever takes the flag back, wakes.
        if (sleeps.exchange(false, std::memory_order_acq_rel)) wake.release();
    }
    // Waits until ready() holds, which reads the other side's index sequentially consistently.
    template <class Ready> void sleep_until(Ready const& ready) noexcept {
        while (!ready()) {
            sleeps.store(true, std::memory_order_seq_cst); // A1
            if (ready()) {                                 // A2
                if (sleeps.exchange(false, std::memory_order_acq_rel)) return;
                // Somebody has taken the flag, and will wake.
            }
            wake.acquire();
        }
    }
};

} // namespace

struct qswsrqueue_s {
    ring_side writer;
    ring_side reader;
    std::uint64_t mask;
    std::unique_ptr<void*[]> elements;

    explicit qswsrqueue_s(std::uint64_t size) : mask(size - 1), elements(new void*[size]) {}

    // seq_cst: A2; acquire pairs with move_on() of the other side: the element, or that its place is free.
    [[nodiscard]] bool has_room() noexcept {
        std::uint64_t const at = writer.index.load(std::memory_order_relaxed); // relaxed: the caller's own
        if (at - writer.other <= mask) return true;
        writer.other = reader.index.load(std::memory_order_seq_cst);
        return at - writer.other <= mask;
    }
    [[nodiscard]] bool has_element() noexcept {
        std::uint64_t const at = reader.index.load(std::memory_order_relaxed); // relaxed: the caller's own
        if (at != reader.other) return true;
        reader.other = writer.index.load(std::memory_order_seq_cst);
        return at != reader.other;
    }
    void put(void* elem) noexcept {
        std::uint64_t const at = writer.index.load(std::memory_order_relaxed); // relaxed: the caller's own
        elements[at & mask] = elem;
        writer.move_on(at + 1, reader);
    }
    [[nodiscard]] void* take() noexcept {
        std::uint64_t const at = reader.index.load(std::memory_order_relaxed); // relaxed: the caller's own
        void* const elem = elements[at & mask];
        reader.move_on(at + 1, writer);
        return elem;
    }
};

qswsrqueue_t* qswsrqueue_create(size_t elements) try {
    constexpr std::uint64_t k_least = 8;
    if (elements > std::numeric_limits<std::uint32_t>::max()) return nullptr;
    std::uint64_t size = k_least;
    while (size < elements) size *= 2;
    return new qswsrqueue_s(size);
} catch (std::bad_alloc const&) {
    return nullptr;
}

int qswsrqueue_destroy(qswsrqueue_t* q) {
    if (q == nullptr) return QTHREAD_BADARGS;
    delete q;
    return QTHREAD_SUCCESS;
}

int qswsrqueue_enqueue(qswsrqueue_t* q, void* elem) {
    if (q == nullptr || elem == nullptr) return QTHREAD_BADARGS;
    if (!q->has_room()) return QTHREAD_OPFAIL;
    q->put(elem);
    return QTHREAD_SUCCESS;
}

int qswsrqueue_enqueue_blocking(qswsrqueue_t* q, void* elem) {
    if (q == nullptr || elem == nullptr) return QTHREAD_BADARGS;
    q->writer.sleep_until([q] { return q->has_room(); });
    q->put(elem);
    return QTHREAD_SUCCESS;
}

void* qswsrqueue_dequeue(qswsrqueue_t* q) {
    if (q == nullptr || !q->has_element()) return nullptr;
    return q->take();
}

void* qswsrqueue_dequeue_blocking(qswsrqueue_t* q) {
    if (q == nullptr) return nullptr;
    q->reader.sleep_until([q] { return q->has_element(); });
    return q->take();
}

int qswsrqueue_empty(qswsrqueue_t* q) {
    if (q == nullptr) return QTHREAD_BADARGS;
    // acquire: whoever sees an element may dequeue it.
    return q->reader.index.load(std::memory_order_acquire) == q->writer.index.load(std::memory_order_acquire) ? 1 : 0;
}
