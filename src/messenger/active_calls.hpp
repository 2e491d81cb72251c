// SPDX-License-Identifier: Apache-2.0
// Active messages that one thread sends, some at a time, and whose answers it waits for
// (<tulle/detail/active_message.hpp>). It polls meanwhile and then sleeps, and does not let other
// threads run, so that it may stand anywhere in a program; or it is suspended, if it chooses so and
// can be.
#pragma once

#include "messenger/awaited.hpp"
#include "messenger/message.hpp"
#include "messenger/open_answers.hpp"
#include "os/machine.hpp"

#include <tulle/detail/active_message.hpp>
#include <tulle/signal.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tulle::messenger {

class endpoint;

enum class waits_by : std::uint8_t { polling, letting_others_run };

// The caller is a thread on a worker, and nothing that the worker does itself, as to handle
// messages; and it goes on when what it waits for has come, whatever else runs meanwhile.
[[nodiscard]] bool may_let_others_run() noexcept;

// For a moment, if the caller may. True: others are ready still.
bool let_ready_threads_run() noexcept;

class active_calls {
public:
    // Each answer takes 1 from `to_come`, if there is one, for others who want to know before the
    // caller goes on: what was done for it happens before they find that by an acquire.
    explicit active_calls(endpoint& from, waits_by how = waits_by::polling,
                          std::atomic<std::uint32_t>* to_come = nullptr) noexcept;
    active_calls(active_calls const&) = delete;
    active_calls& operator=(active_calls const&) = delete;
    ~active_calls() { static_cast<void>(wait()); }

    // To another place. Waits while too many are under way. The request may be changed afterwards;
    // no more than most_bytes() of it, and of the answer, which has a multiple of so many bytes.
    void ask(rank to, detail::active_function f, std::span<std::byte const> request,
             std::span<std::byte> answer) noexcept;
    // Until all are answered. False: a place that was asked has died.
    [[nodiscard]] bool wait() noexcept;
    // wait() would return at once.
    [[nodiscard]] bool is_answered() const noexcept { return m_open.none_is_open(); }
    // The caller waits for something else. True: messages have come.
    bool pause() noexcept;
    // Of a request or an answer, to any place.
    [[nodiscard]] std::size_t most_bytes() const noexcept;

private:
    friend class endpoint;

    struct one : awaited {
        one() noexcept;

        active_calls* all = nullptr;
        std::span<std::byte> answer;
        std::atomic<bool> is_open{false};
    };
    static constexpr std::size_t k_most = 32; // under way

    void take_one() noexcept;
    void end(one& answered) noexcept;
    [[nodiscard]] one* find_free() noexcept;
    // Polls, and later sleeps now and then.
    template <class Done, class Sleep> void poll_until(Done done, Sleep sleep) noexcept;

    endpoint& m_from;
    std::array<one, k_most> m_calls;
    std::atomic<std::uint32_t>* m_to_come;
    bool m_is_suspended; // rather than to poll, if it can be
    basic_open_answers<os::machine> m_open{k_most / 2};
    signal m_answers; // likewise, if it is suspended; the last access of each answer
    std::atomic<bool> m_has_died{false};
};

} // namespace tulle::messenger
