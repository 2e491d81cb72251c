// SPDX-License-Identifier: Apache-2.0
// Hazard pointers: a reader says which nodes it looks at, and a node that was taken out of a structure is freed when nobody looks at it.
// After Michael (2004, doi:10.1109/TPDS.2004.8). Records belong to OS threads; a section between protect() and clear() must not wait, as
// the thread might go on elsewhere. Records are never freed, so that others may always read them; the next OS thread takes over one that
// has been left.
// A1: the reader announces a node, A2: and finds that the structure still has it. B1: the remover takes it out, B2: and looks for
// announcements. All four are sequentially consistent: either A2 finds it gone, or B2 finds it announced.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace tulle::compat {

class hazard_record {
public:
    static constexpr std::size_t k_hazards = 2;

    // The record of the calling OS thread. Throws std::bad_alloc at its first call there.
    [[nodiscard]] static hazard_record& mine();

    // What `source` points to, announced in place `k`.
    template <class Node> [[nodiscard]] Node* protect(std::size_t k, std::atomic<Node*> const& source) noexcept {
        Node* node = source.load(std::memory_order_seq_cst);
        for (;;) {
            announce(k, node);
            Node* const again = source.load(std::memory_order_seq_cst); // A2
            if (again == node) return node;
            node = again;
        }
    }
    // The caller must then find out whether the structure still has the node (A2).
    void announce(std::size_t k, void* node) noexcept { m_hazards[k].store(node, std::memory_order_seq_cst); } // A1
    // release pairs with the look for announcements: what the reader has read happens before the node is freed.
    void clear() noexcept {
        for (auto& hazard : m_hazards) hazard.store(nullptr, std::memory_order_release);
    }
    // Frees the node by `free` when nobody announces it; the caller has taken it out (B1, sequentially consistent).
    void retire(void* node, void (*free)(void*));

private:
    friend class hazard_holder;
    struct retired_node {
        void* node;
        void (*free)(void*);
    };
    static constexpr std::size_t k_retired_before_look = 128;

    [[nodiscard]] static hazard_record* acquire();
    void release() noexcept;
    void free_unannounced();

    std::array<std::atomic<void*>, k_hazards> m_hazards{};
    std::atomic<bool> m_in_use{true};
    hazard_record* m_next = nullptr;
    std::vector<retired_node> m_retired; // by the owner only
};

} // namespace tulle::compat
