// SPDX-License-Identifier: Apache-2.0
// One send or receive of several channels, whichever can go on first. Contexts: any thread of the
// process.
//   receive_case news(letters);
//   send_case answer(replies, text);
//   switch (select(news, answer)) { case 0: if (news.item) read(*news.item); break; case 1: ...; }
#pragma once

#include <tulle/channel.hpp>
#include <tulle/detail/channel_calls.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/wait_limit.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace tulle {

namespace detail {
struct select_access;
}

// Not copied, not moved; may be used again and again. The channel must outlive it.
class select_case {
public:
    select_case(select_case const&) = delete;
    select_case& operator=(select_case const&) = delete;

    // Of the last select: success or closed if it chose this one, else not_ready.
    [[nodiscard]] channel_status status() const noexcept { return m_case.status; }

protected:
    select_case(detail::channel_core* channel, bool is_send) noexcept {
        m_case.channel = channel;
        m_case.is_send = is_send;
    }
    void set_item(void* item) noexcept { m_case.item = item; }
    ~select_case() = default;

private:
    friend struct detail::select_access;

    detail::channel_case m_case;
};

// Receives an item when it is chosen.
template <class T> class receive_case final : public select_case {
public:
    // From this channel.
    explicit receive_case(channel<T>& source) noexcept : select_case(source.m_core, false) {
        set_item(m_slot.storage());
    }

    std::optional<T> item; // what the last select has received here

private:
    friend struct detail::select_access;

    void prepare() noexcept { item.reset(); } // for the select that begins
    void finish() noexcept {                  // when it was chosen
        if (status() == channel_status::success) item.emplace(m_slot.take());
    }

    detail::item_slot<T> m_slot;
};

// Sends its item when it is chosen; moved from then.
template <class T> class send_case final : public select_case {
public:
    // To this channel; the item is kept until the case is chosen.
    send_case(channel<T>& target, T sent)
        : select_case(target.m_core, true), item(std::move(sent)) {
        set_item(&item);
    }

    T item; // what is to be sent; may be set anew between selects

private:
    friend struct detail::select_access;

    void prepare() noexcept {}
    void finish() noexcept {}
};

namespace detail {

struct select_access {
    template <class... Case> [[nodiscard]] static std::size_t run(limit until, Case&... cases) {
        static_assert(sizeof...(Case) > 0);
        (cases.prepare(), ...);
        std::array<channel_case*, sizeof...(Case)> raw{&static_cast<select_case&>(cases).m_case...};
        std::size_t const chosen = detail::select(raw.data(), raw.size(), until);
        std::size_t index = 0;
        ((index++ == chosen ? cases.finish() : void()), ...);
        return chosen;
    }
};

} // namespace detail

// What select() returns when the limit was reached.
inline constexpr std::size_t no_case = ~std::size_t{0};

namespace detail {

template <class C>
concept selectable = std::derived_from<C, select_case>;

template <class... Case> std::size_t select_within(limit until, Case&... cases) {
    std::size_t const chosen = select_access::run(until, cases...);
    return chosen == sizeof...(Case) ? no_case : chosen;
}

} // namespace detail

// Waits until one of the cases, each given once, can go on, and does it; a closed channel can. The
// index of the case. If several can, any of them is chosen.
// Errors: std::bad_alloc, by a case that sends to an unbounded channel; nothing was done then.
template <detail::selectable... Case> std::size_t select(Case&... cases) {
    return detail::select_within(detail::k_no_deadline, cases...);
}
// no_case: none can go on at once, or could before the limit was reached.
template <detail::selectable... Case> [[nodiscard]] std::size_t try_select(Case&... cases) {
    return detail::select_within(std::uint64_t{0}, cases...);
}
template <detail::selectable... Case>
[[nodiscard]] std::size_t select(wait_limit const& limit, Case&... cases) {
    return detail::select_within(limit.get(), cases...);
}
template <class Rep, class Period, detail::selectable... Case>
[[nodiscard]] std::size_t select_for(std::chrono::duration<Rep, Period> const& timeout,
                                     Case&... cases) {
    return detail::select_within(detail::deadline_after(timeout), cases...);
}

} // namespace tulle
