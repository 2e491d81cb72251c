// SPDX-License-Identifier: Apache-2.0
// Guards what a host does for coherent memory where several of its threads have one copy. It may be
// held until another machine has answered; so who waits for it takes messages meanwhile, as hosts
// of other machines may wait for what this one answers, and later sleeps, when the service thread
// takes them. What they ask for needs no lock.
#pragma once

#include "arch/vector_registers.hpp"
#include "base/cpu_pause.hpp"
#include "base/kept_errno.hpp"
#include "dsm/far_hosts.hpp"
#include "dsm/turn_lock.hpp"
#include "os/machine.hpp"
#include "os/membarrier.hpp"

#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

class host_lock {
public:
    // Null: there are no other machines.
    explicit host_lock(far_hosts* others) noexcept
        : m_lock(os::membarrier_available()), m_others(others) {}

    void lock() noexcept {
        if (TULLE_UNLIKELY(!m_lock.try_lock())) wait_cold();
    }
    void unlock() noexcept { m_lock.unlock(); }

private:
    static constexpr int k_tries = 200; // more than an answer of another machine takes, if it polls

    TULLE_COLD void wait_cold() noexcept {
        base::kept_errno const kept; // to the program it is a load or a store
        arch::keeping_vectors([this] {
            for (int k = 0; k != k_tries; ++k) {
                if (m_lock.try_lock()) return;
                m_others != nullptr ? m_others->pause() : base::cpu_pause();
            }
            if (m_others != nullptr) m_others->leave_messages();
            m_lock.lock_in_turn();
        });
    }

    basic_turn_lock<os::machine> m_lock;
    far_hosts* m_others;
};

} // namespace tulle::dsm
