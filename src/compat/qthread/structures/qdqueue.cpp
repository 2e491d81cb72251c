// SPDX-License-Identifier: Apache-2.0
// A qlfqueue for each shepherd. That all are empty is known when they were found empty one after
// the other and nothing was put in meanwhile:
// each part counts what has been put in, after the fact.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/places.hpp"

#include <qthread/qdqueue.h>
#include <qthread/qlfqueue.h>

#include <tulle/detail/attributes.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

using tulle::compat::is_object;

namespace {

struct alignas(64) part {
    std::unique_ptr<qlfqueue_t, int (*)(qlfqueue_t*)> queue{qlfqueue_create(), qlfqueue_destroy};
    std::atomic<std::uint64_t> put_in{0};
    std::vector<std::size_t> order; // all parts, this one first, then the nearest
};

} // namespace

struct qdqueue_s {
    std::vector<part> parts;

    explicit qdqueue_s(std::size_t shepherds) : parts(shepherds) {
        for (std::size_t k = 0; k != shepherds; ++k) {
            if (parts[k].queue == nullptr) throw std::bad_alloc();
            sort_by_distance(k);
        }
    }
    [[nodiscard]] part& mine() noexcept {
        auto const here =
            static_cast<std::size_t>(std::max(tulle::this_thread::shepherd_index(), 0));
        return parts[here < parts.size() ? here : here % parts.size()];
    }
    [[nodiscard]] std::uint64_t put_in() const noexcept {
        std::uint64_t sum = 0;
        // seq_cst: before or after the looks at the queues
        for (part const& p : parts) sum += p.put_in.load(std::memory_order_seq_cst);
        return sum;
    }
    // Whether found(part) holds for one, which are asked in the caller's order; if not, at some
    // moment during the call all were empty.
    template <class Found> [[nodiscard]] bool visit(Found const& found) {
        part& own = mine();
        return found(own) || visit_all(own.order, found);
    }
    template <class Found>
    [[nodiscard]] TULLE_NOINLINE bool visit_all(std::vector<std::size_t> const& order,
                                                Found const& found) {
        auto const any = [&] {
            return std::any_of(order.begin(), order.end(),
                               [&](std::size_t k) { return found(parts[k]); });
        };
        for (std::uint64_t before = put_in();;) {
            if (any()) return true;
            std::uint64_t const after = put_in();
            if (after == before) return false;
            before = after;
        }
    }
    int put(part& p, void* elem) noexcept {
        int const result = qlfqueue_enqueue(p.queue.get(), elem);
        // Pairs with put_in()
        if (result == QTHREAD_SUCCESS) p.put_in.fetch_add(1, std::memory_order_seq_cst);
        return result;
    }

private:
    // From neighbours at the same distance, the next higher numbers first, so that not all ask the
    // same one.
    void sort_by_distance(std::size_t here) {
        auto& order = parts[here].order;
        for (std::size_t k = 0; k != parts.size(); ++k) order.push_back((here + k) % parts.size());
        auto const distance = [here](std::size_t k) {
            return qthread_distance(static_cast<qthread_shepherd_id_t>(here),
                                    static_cast<qthread_shepherd_id_t>(k));
        };
        std::stable_sort(order.begin() + 1, order.end(),
                         [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    }
};

qdqueue_t* qdqueue_create() try {
    std::size_t const shepherds = tulle::compat::count_shepherds();
    return shepherds != 0 ? new qdqueue_s(shepherds) : nullptr;
} catch (std::bad_alloc const&) {
    return nullptr;
}

int qdqueue_destroy(qdqueue_t* q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    delete q;
    return QTHREAD_SUCCESS;
}

int qdqueue_enqueue(qdqueue_t* q, void* elem) {
    if (!is_object(q) || elem == nullptr) return QTHREAD_BADARGS;
    return q->put(q->mine(), elem);
}

int qdqueue_enqueue_there(qdqueue_t* q, void* elem, qthread_shepherd_id_t there) {
    if (!is_object(q) || elem == nullptr || there >= q->parts.size()) return QTHREAD_BADARGS;
    return q->put(q->parts[there], elem);
}

void* qdqueue_dequeue(qdqueue_t* q) {
    if (!is_object(q)) return nullptr;
    void* elem = nullptr;
    bool const found =
        q->visit([&elem](part& p) { return (elem = qlfqueue_dequeue(p.queue.get())) != nullptr; });
    return found ? elem : nullptr;
}

int qdqueue_empty(qdqueue_t* q) {
    if (!is_object(q)) return 0;
    return q->visit([](part& p) { return qlfqueue_empty(p.queue.get()) == 0; }) ? 0 : 1;
}
