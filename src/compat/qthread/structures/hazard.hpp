// SPDX-License-Identifier: Apache-2.0
// Hazard pointers: a reader says which nodes it reads, and a node that was taken out of a
// structure is freed when nobody reads it.
// After Michael (2004, doi:10.1109/TPDS.2004.8). Records belong to OS threads; a section between
// protect() and clear() must not wait, as the thread might go on elsewhere. Records are never
// freed, so that others may always read them; the next OS thread takes over one that has been left.
// A1: the reader announces a node, A2: and finds that the structure still has it, both sequentially
// consistent. B1: somebody takes it out, B2: and who has seen that issues a fence and looks for
// announcements. Either A2 finds it gone, or B2 finds it announced.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

namespace tulle::compat {

template <class Machine> class basic_hazard_record;

// All threads that may read the nodes of some structures.
template <class Machine> class basic_hazard_domain {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using record = basic_hazard_record<Machine>;

public:
    constexpr basic_hazard_domain() noexcept : m_records(nullptr) {}
    // One that nobody uses; null: there is none.
    [[nodiscard]] record* take_over() noexcept;
    void add(record& fresh) noexcept;

private:
    friend record;
    atomic<record*> m_records; // a list that only grows
};

template <class Machine> class basic_hazard_record {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using domain = basic_hazard_domain<Machine>;

public:
    static constexpr std::size_t k_hazards = 1;

    // In use from the start. Looks for announcements whenever so many nodes have been retired.
    // Errors: std::bad_alloc.
    basic_hazard_record(domain& of, std::size_t retired_before_look)
        : m_domain(of), m_retired_before_look(retired_before_look) {
        m_retired.reserve(2 * retired_before_look);
    }
    basic_hazard_record(basic_hazard_record const&) = delete;
    basic_hazard_record& operator=(basic_hazard_record const&) = delete;

    // What `source` points to, announced in place `k`.
    template <class Node>
    [[nodiscard]] Node* protect(std::size_t k, atomic<Node*> const& source) noexcept {
        Node* node = source.load(std::memory_order_relaxed); // relaxed: a guess
        for (;;) {
            announce(k, node);
            Node* const again = source.load(std::memory_order_seq_cst); // A2
            if (again == node) return node;
            node = again;
        }
    }
    // The caller must then find out whether the structure still has the node (A2).
    // A1.
    void announce(std::size_t k, void* node) noexcept {
        m_hazards[k].store(node, std::memory_order_seq_cst);
    }
    // release pairs with the look for announcements: what the reader has read happens before the
    // node is freed.
    void clear() noexcept {
        for (auto& hazard : m_hazards) hazard.store(nullptr, std::memory_order_release);
    }
    // Frees the node by `free` when nobody announces it; it has been taken out (B1). Without memory
    // to remember it, it is never freed.
    void retire(void* node, void (*free)(void*)) noexcept try {
        m_retired.push_back({node, free});
        if (m_retired.size() >= m_retired_before_look) free_unannounced();
    } catch (std::bad_alloc const&) {}
    // To whoever takes it over.
    void leave() noexcept {
        clear();
        m_in_use.store(false, std::memory_order_release); // pairs with take_over()
    }

private:
    friend domain;
    struct retired_node {
        void* node;
        void (*free)(void*);
    };

    // A record that is added meanwhile announces nothing that was taken out before.
    void free_unannounced() {
        std::vector<void*> announced;
        Machine::fence_seq_cst(); // B2: pairs with A1, A2
        // acquire pairs with add(): the record is made.
        for (auto* r = m_domain.m_records.load(std::memory_order_acquire); r != nullptr;
             r = r->m_next)
            // Pairs with clear()
            for (auto const& hazard : r->m_hazards)
                announced.push_back(hazard.load(std::memory_order_acquire));
        std::sort(announced.begin(), announced.end());
        auto const is_kept = [&](retired_node const& r) {
            return std::binary_search(announced.begin(), announced.end(), r.node);
        };
        auto const kept_end = std::partition(m_retired.begin(), m_retired.end(), is_kept);
        for (auto r = kept_end; r != m_retired.end(); ++r) r->free(r->node);
        m_retired.erase(kept_end, m_retired.end());
    }

    domain& m_domain;
    std::size_t m_retired_before_look;
    std::array<atomic<void*>, k_hazards> m_hazards{};
    atomic<bool> m_in_use{true};
    basic_hazard_record* m_next = nullptr;
    std::vector<retired_node> m_retired; // by the owner only
};

template <class Machine> auto basic_hazard_domain<Machine>::take_over() noexcept -> record* {
    // acquire pairs with add(): the record is made.
    for (record* r = m_records.load(std::memory_order_acquire); r != nullptr; r = r->m_next) {
        // relaxed: a hint. acquire pairs with leave(): what the former owner has retired.
        if (!r->m_in_use.load(std::memory_order_relaxed) &&
            !r->m_in_use.exchange(true, std::memory_order_acquire))
            return r;
    }
    return nullptr;
}

// seq_cst: B2 sees a record that is in the list before A1. release pairs with whoever walks the
// list.
template <class Machine> void basic_hazard_domain<Machine>::add(record& fresh) noexcept {
    // relaxed: the exchange finds what has changed
    fresh.m_next = m_records.load(std::memory_order_relaxed);
    while (!m_records.compare_exchange_weak(fresh.m_next, &fresh, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {}
}

} // namespace tulle::compat
