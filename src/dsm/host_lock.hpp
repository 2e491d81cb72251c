// SPDX-License-Identifier: Apache-2.0
// Guards what a host does for coherent memory where several of its threads have one copy. It may be
// held until another machine has answered; so who waits for it takes messages meanwhile, as hosts
// of other machines may wait for what this one answers. What they ask for needs no lock.
#pragma once

#include "arch/vector_registers.hpp"
#include "base/kept_errno.hpp"
#include "base/spin_lock.hpp"
#include "dsm/far_hosts.hpp"

#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

class host_lock {
public:
    // Null: there are no other machines.
    explicit host_lock(far_hosts* others) noexcept : m_others(others) {}

    void lock() noexcept {
        if (TULLE_UNLIKELY(!m_word.try_lock())) wait_cold();
    }
    void unlock() noexcept { m_word.unlock(); }

private:
    TULLE_COLD void wait_cold() noexcept {
        if (m_others == nullptr) return m_word.lock();
        base::kept_errno const kept; // to the program it is a load or a store
        arch::keeping_vectors([this] {
            for (unsigned turn = 0; m_word.looks_held() || !m_word.try_lock(); ++turn)
                m_others->pause(turn);
        });
    }

    base::spin_lock m_word;
    far_hosts* m_others;
};

} // namespace tulle::dsm
