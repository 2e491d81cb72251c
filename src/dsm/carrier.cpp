// SPDX-License-Identifier: Apache-2.0
#include "dsm/carrier.hpp"

#include "base/error.hpp"
#include "base/kept_errno.hpp"
#include "dsm/coherent_host.hpp"
#include "os/machine.hpp"

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include <unistd.h>

namespace tulle::dsm {

namespace {

constexpr std::chrono::microseconds k_nap{100};

std::size_t serve_at_once(int from, std::span<std::byte const> request,
                          std::byte* answer) noexcept {
    return serve(static_cast<host_number>(from), request.data(), answer);
}

} // namespace

tulle::detail::active_function carrier::service_of_process(host_number /*asked*/) noexcept {
    return &serve_at_once;
}

carrier::carrier(messenger::endpoint& by, std::vector<host_number> const& to,
                 service_at service) noexcept
    : m_by(by), m_calls(by), m_service(service), m_most(~std::size_t{0}) {
    for (host_number const h : to) m_most = std::min(m_most, by.transport().most_bytes_to(h));
}

carrier::carrier(carrier const& of, messenger::waits_by how,
                 std::atomic<std::uint32_t>& answers_to_come) noexcept
    : m_by(of.m_by),
      m_calls(of.m_by, how, &answers_to_come),
      m_service(of.m_service),
      m_most(of.m_most) {}

// Checked code may run until the process ends, as that of destructors does. Other places than the
// first one end when they are told of the end: what still runs there beside that is of no interest.
void carrier::expect_others() const noexcept {
    if (TULLE_LIKELY(!m_by.has_ended())) return;
    while (m_by.here() != 0 && !m_by.has_ended_by_caller()) ::pause();
    base::fatal("coherent memory: used after the run time has ended: other hosts can no more "
                "be asked for what they have, nor told; use it before tulle_finalize() or "
                "MAIN_END, and copy what is needed afterwards");
}

void carrier::ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
                  std::size_t room) noexcept {
    expect_others();
    m_calls.ask(to, m_service(to), {request, bytes}, {answer, room});
}

void carrier::wait() noexcept {
    if (!m_calls.is_answered()) expect_others();
    if (!m_calls.wait())
        base::fatal("coherent memory: a place has died, and with it what it was the home of");
}

void carrier::ask_beside(void (*f)(far_hosts& others, void* argument) noexcept, void* argument,
                         std::atomic<std::uint32_t>& answers_to_come) noexcept {
    base::kept_errno const kept; // to the program it is a load or a store
    carrier own(*this, messenger::waits_by::letting_others_run, answers_to_come);
    f(own, argument);
}

// Messages come no more when the run time has ended, but another thread may be in a short section
// as it always may.
void carrier::pause() noexcept {
    if (m_by.has_ended()) return os::machine::pause();
    static_cast<void>(m_calls.pause());
}

void carrier::let_others_run() noexcept {
    base::kept_errno const kept; // to the program it is a load or a store
    expect_others();
    // Also if a message has come: others may ask all the time, and what this thread waits for may
    // be in the hands of a thread that is ready.
    pause();
    if (messenger::let_ready_threads_run()) return;
    if (!m_by.is_to_sleep_at_once()) return m_by.let_others_run();
    // A yield would cost a turn of each process that computes beside this one.
    leave_messages();
    std::this_thread::sleep_for(k_nap);
}

void carrier::leave_messages() noexcept { m_by.leave_kept_watch(); }

} // namespace tulle::dsm
