// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/hazard.hpp"

#include <algorithm>

namespace tulle::compat {

namespace {

std::atomic<hazard_record*> s_records{nullptr}; // a list that only grows

} // namespace

// Leaves the record when the OS thread ends.
class hazard_holder {
public:
    hazard_holder() : m_record(hazard_record::acquire()) {}
    ~hazard_holder() { m_record->release(); }
    hazard_holder(hazard_holder const&) = delete;
    hazard_holder& operator=(hazard_holder const&) = delete;
    [[nodiscard]] hazard_record& record() const noexcept { return *m_record; }

private:
    hazard_record* m_record;
};

// Not inlined: see os_thread_number().
TULLE_NOINLINE hazard_record& hazard_record::mine() {
    thread_local hazard_holder const t_holder;
    return t_holder.record();
}

hazard_record* hazard_record::acquire() {
    // acquire pairs with the release below: the record is made.
    for (hazard_record* r = s_records.load(std::memory_order_acquire); r != nullptr; r = r->m_next) {
        // relaxed: a hint. acquire pairs with release(): what the former owner has retired.
        if (!r->m_in_use.load(std::memory_order_relaxed) && !r->m_in_use.exchange(true, std::memory_order_acquire)) return r;
    }
    auto* const fresh = new hazard_record;
    fresh->m_next = s_records.load(std::memory_order_relaxed); // relaxed: the exchange publishes, and finds what has changed
    while (!s_records.compare_exchange_weak(fresh->m_next, fresh, std::memory_order_seq_cst, std::memory_order_relaxed)) {}
    return fresh;
}

void hazard_record::release() noexcept {
    clear();
    m_in_use.store(false, std::memory_order_release); // pairs with acquire()
}

void hazard_record::retire(void* node, void (*free)(void*)) {
    m_retired.push_back({node, free});
    if (m_retired.size() >= k_retired_before_look) free_unannounced();
}

// A record that is added meanwhile announces nothing that was taken out before.
void hazard_record::free_unannounced() {
    std::vector<void*> announced;
    for (hazard_record* r = s_records.load(std::memory_order_seq_cst); r != nullptr; r = r->m_next) {
        for (auto const& hazard : r->m_hazards) announced.push_back(hazard.load(std::memory_order_seq_cst)); // B2; pairs with clear()
    }
    std::sort(announced.begin(), announced.end());
    auto const is_free = [&](retired_node const& r) { return !std::binary_search(announced.begin(), announced.end(), r.node); };
    auto const keep_end = std::partition(m_retired.begin(), m_retired.end(), [&](auto const& r) { return !is_free(r); });
    for (auto r = keep_end; r != m_retired.end(); ++r) r->free(r->node);
    m_retired.erase(keep_end, m_retired.end());
}

} // namespace tulle::compat
