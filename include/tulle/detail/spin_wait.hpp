// SPDX-License-Identifier: Apache-2.0
// How to wait for an OS thread that will be done in a few instructions: with pauses, and giving the
// processor up now and then, because that thread may have been preempted.
#pragma once

namespace tulle::detail {

template <class Machine> class spin_wait {
public:
    // Each time that the other thread has been seen not to be done.
    void step() noexcept {
        if (++m_steps % k_steps_per_yield == 0)
            Machine::yield_processor();
        else
            Machine::pause();
    }

private:
    static constexpr unsigned k_steps_per_yield = 128;
    unsigned m_steps = 0;
};

} // namespace tulle::detail
