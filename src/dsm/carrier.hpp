// SPDX-License-Identifier: Apache-2.0
// Carries what hosts ask each other, as active messages between their places. The number of a host
// is that of its place.
#pragma once

#include "dsm/far_hosts.hpp"
#include "messenger/active_calls.hpp"
#include "messenger/endpoint.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tulle/detail/active_message.hpp>

namespace tulle::dsm {

class carrier final : public far_hosts {
public:
    // `to`: those that are asked. A place that dies ends this process, as a part of the memory is
    // lost; and so does who asks when the run time has ended. `service`: what runs at the place of
    // a host that is asked.
    using service_at = tulle::detail::active_function (*)(host_number asked) noexcept;
    carrier(messenger::endpoint& by, std::vector<host_number> const& to,
            service_at service = &service_of_process) noexcept;

    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_most; }
    void ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
             std::size_t room) noexcept override;
    void wait() noexcept override;
    void ask_beside(void (*f)(far_hosts& others, void* argument) noexcept, void* argument,
                    std::atomic<std::uint32_t>& answers_to_come) noexcept override;
    void pause() noexcept override;
    void let_others_run() noexcept override;
    void leave_messages() noexcept override;

private:
    carrier(carrier const& of, messenger::waits_by how,
            std::atomic<std::uint32_t>& answers_to_come) noexcept;

    // Each process is one host.
    static tulle::detail::active_function service_of_process(host_number asked) noexcept;
    void expect_others() const noexcept;

    messenger::endpoint& m_by;
    messenger::active_calls m_calls;
    service_at m_service;
    std::size_t m_most;
};

} // namespace tulle::dsm
