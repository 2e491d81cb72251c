// SPDX-License-Identifier: Apache-2.0
// A sinc: a count, and a word that is full when the count is zero. Values are kept for each worker,
// which works on its own without a lock; other OS threads share one place, under a lock. What lies
// in a qt_sinc_t without values needs no memory and no end.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"

#include <qthread/sinc.h>

#include <tulle/feb.hpp>
#include <tulle/mutex.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace tulle::compat {

namespace {

// Values of the workers, and that of other OS threads behind them, each on cache lines of its own.
class reduced_values {
public:
    reduced_values(std::size_t size, void const* initial, qt_sinc_op_f op, std::size_t workers)
        : m_size(size),
          m_stride((size + 63) / 64 * 64),
          m_operation(op),
          m_initial(bytes_of(initial), bytes_of(initial) + size),
          m_result(m_initial),
          m_memory(m_stride * (workers + 1)),
          m_count(workers + 1) {
        reset();
    }

    void reset() {
        for (std::size_t k = 0; k < m_count; ++k) std::memcpy(place(k), m_initial.data(), m_size);
    }
    [[nodiscard]] void* own() noexcept {
        int const worker = this_thread::worker_index();
        return place(worker < 0 ? m_count - 1 : static_cast<std::size_t>(worker));
    }
    void add(void const* value) {
        std::unique_lock<tulle::mutex> held(m_strangers, std::defer_lock);
        if (this_thread::worker_index() < 0) held.lock();
        m_operation(own(), value);
    }
    // When all have been submitted.
    void collate() {
        std::memcpy(m_result.data(), m_initial.data(), m_size);
        for (std::size_t k = 0; k < m_count; ++k) m_operation(m_result.data(), place(k));
    }
    void copy_result(void* to) const { std::memcpy(to, m_result.data(), m_size); }

private:
    static std::byte const* bytes_of(void const* p) noexcept {
        return static_cast<std::byte const*>(p);
    }
    [[nodiscard]] std::byte* place(std::size_t k) noexcept {
        return m_memory.data() + k * m_stride;
    }

    std::size_t m_size, m_stride;
    qt_sinc_op_f m_operation;
    std::vector<std::byte> m_initial, m_result, m_memory;
    std::size_t m_count;
    tulle::mutex m_strangers;
};

struct sinc {
    std::atomic<aligned_t> outstanding;
    aligned_t ready;         // full/empty: nothing is outstanding
    reduced_values* reduced; // null: there are no values
};
static_assert(sizeof(sinc) <= sizeof(qt_sinc_t) && alignof(sinc) <= alignof(qt_sinc_t));

bool is_sinc(qt_sinc_t const* s) noexcept { return is_object<qt_sinc_t>(s); }
sinc& of(qt_sinc_t* s) noexcept { return *reinterpret_cast<sinc*>(s->opaque_data); }

void set_count(sinc& s, std::size_t count) {
    s.outstanding.store(count, std::memory_order_relaxed); // relaxed: nobody uses it yet
    count == 0 ? feb::fill(s.ready) : feb::empty(s.ready);
}

// Null: there is no memory for so much, or nothing to begin or to combine with.
reduced_values* make_values(std::size_t size, void const* initial, qt_sinc_op_f op) noexcept try {
    auto const workers = static_cast<std::size_t>(worker_slot_count());
    constexpr std::size_t k_most = std::size_t{1} << k_address_bits;
    if (op == nullptr || !is_bytes(initial, size) || size > k_most / (workers + 1)) return nullptr;
    return new reduced_values(size, initial, op, workers);
} catch (std::bad_alloc const&) {
    return nullptr;
}

// False: it counts, but has no values.
bool initialise(qt_sinc_t* where, std::size_t size, void const* initial, qt_sinc_op_f op,
                std::size_t expect) noexcept {
    auto* const s = ::new (static_cast<void*>(where->opaque_data)) sinc{{0}, 0, nullptr};
    if (size != 0) s->reduced = make_values(size, initial, op);
    set_count(*s, expect);
    return size == 0 || s->reduced != nullptr;
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;
namespace feb = tulle::feb;

void qt_sinc_init(qt_sinc_t* restrict where, size_t sizeof_value,
                  void const* restrict initial_value, qt_sinc_op_f op, size_t expect) {
    if (is_sinc(where))
        static_cast<void>(initialise(where, sizeof_value, initial_value, op, expect));
}

qt_sinc_t* qt_sinc_create(size_t sizeof_value, void const* initial_value, qt_sinc_op_f op,
                          size_t expect) {
    auto* const made = static_cast<qt_sinc_t*>(std::malloc(sizeof(qt_sinc_t)));
    if (made == nullptr || initialise(made, sizeof_value, initial_value, op, expect)) return made;
    qt_sinc_destroy(made);
    return nullptr;
}

void qt_sinc_reset(qt_sinc_t* where, size_t expect) {
    if (!is_sinc(where)) return;
    sinc& s = of(where);
    if (s.reduced != nullptr) s.reduced->reset();
    set_count(s, expect);
}

void qt_sinc_fini(qt_sinc_t* where) {
    if (!is_sinc(where)) return;
    sinc& s = of(where);
    delete s.reduced;
    s.reduced = nullptr;
    feb::fill(s.ready);
}

void qt_sinc_destroy(qt_sinc_t* where) {
    if (!is_sinc(where)) return;
    qt_sinc_fini(where);
    std::free(where);
}

void qt_sinc_expect(qt_sinc_t* where, size_t count) {
    if (!is_sinc(where)) return;
    sinc& s = of(where);
    // acq_rel: as in submit
    if (count != 0 && s.outstanding.fetch_add(count, std::memory_order_acq_rel) == 0)
        feb::empty(s.ready);
}

// A sinc for which nothing is outstanding is one to which more may be added.
void qt_sinc_resize(qt_sinc_t* where, size_t const diff) { qt_sinc_expect(where, diff); }

void* qt_sinc_tmpdata(qt_sinc_t* where) {
    if (!is_sinc(where)) return nullptr;
    sinc& s = of(where);
    return s.reduced == nullptr ? nullptr : s.reduced->own();
}

void qt_sinc_submit(qt_sinc_t* restrict where, void const* restrict value) {
    if (!is_sinc(where)) return;
    sinc& s = of(where);
    if (value != nullptr && s.reduced != nullptr) s.reduced->add(value);
    // acq_rel: the last one sees the values of all
    if (s.outstanding.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (s.reduced != nullptr) s.reduced->collate();
    feb::fill(s.ready); // the last access
}

void qt_sinc_wait(qt_sinc_t* restrict where, void* restrict target) {
    if (!is_sinc(where)) return;
    sinc& s = of(where);
    static_cast<void>(feb::read_ff(s.ready));
    if (target != nullptr && s.reduced != nullptr) s.reduced->copy_result(target);
}
