// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/structures/process_hazards.hpp"

#include <tulle/detail/attributes.hpp>

namespace tulle::compat {

namespace {

constexpr std::size_t k_retired_before_look = 32;

constinit basic_hazard_domain<base::machine> s_domain;

hazard_record& take_or_make() {
    if (hazard_record* const left = s_domain.take_over()) return *left;
    auto* const fresh = new hazard_record(s_domain, k_retired_before_look);
    s_domain.add(*fresh);
    return *fresh;
}

// Leaves the record when the OS thread ends.
class holder {
public:
    holder() : m_record(take_or_make()) {}
    ~holder() { m_record.leave(); }
    holder(holder const&) = delete;
    holder& operator=(holder const&) = delete;
    [[nodiscard]] hazard_record& record() const noexcept { return m_record; }

private:
    hazard_record& m_record;
};

} // namespace

// Not inlined: see os_thread_number().
TULLE_NOINLINE hazard_record& own_hazards() {
    thread_local holder const t_holder;
    return t_holder.record();
}

} // namespace tulle::compat
