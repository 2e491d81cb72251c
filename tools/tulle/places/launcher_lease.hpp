// SPDX-License-Identifier: Apache-2.0
// What the launcher of an MPI has started on another host watches the host of `tulle run`, from
// before its program begins until that has ended: when the launcher's host is not there any more
// nobody else may notice. launcher_watch.hpp is the other side, which finds this one by what it
// sends.
#pragma once

#include "net/host_watch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace tulle::tool {

class launcher_lease {
public:
    // The launcher's host is lost when it has been heard and then silent for so long. 0: never.
    // Throws std::bad_alloc.
    explicit launcher_lease(std::chrono::seconds limit);
    launcher_lease(launcher_lease const&) = delete;
    launcher_lease& operator=(launcher_lease const&) = delete;
    ~launcher_lease();

    // After the last fork, as it has a thread. Throws std::bad_alloc.
    void begin();
    // A descriptor that becomes readable when one of these changes; -1: nobody watches.
    [[nodiscard]] int news() const noexcept { return m_news; }
    void take_news() const noexcept;
    // Whether the launcher's host may not know of this one yet, but should soon: it answers the
    // first datagram at once.
    [[nodiscard]] bool is_expected() const noexcept { return m_state == state::unheard; }
    [[nodiscard]] bool is_lost() const noexcept { return m_state == state::lost; }
    [[nodiscard]] std::chrono::seconds limit() const noexcept { return m_limit; }
    [[nodiscard]] std::string launchers_host() const { return m_launcher.name.data(); }

private:
    enum class state : std::uint8_t { none, unheard, held, lost };

    void change(state to) noexcept;

    std::chrono::seconds m_limit;
    net::host_contact m_launcher;
    int m_news = -1;
    std::atomic<state> m_state{state::none};
    std::unique_ptr<net::host_watch> m_watch; // last: its thread uses the others
};

} // namespace tulle::tool
