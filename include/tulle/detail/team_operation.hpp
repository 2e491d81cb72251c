// SPDX-License-Identifier: Apache-2.0
// One collective operation of <tulle/team.hpp>, as one member sees it.
#pragma once

#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/collective.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/place.hpp>
#include <tulle/wire.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tulle {

// An operation failed at another member of the team.
class collective_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

// A message begins with whether it is the value or why there is none. A message that is waited for
// is always sent: a member that has failed goes on and sends that in all that are left, and throws
// at the end.
class team_operation {
public:
    using step_number = std::uint64_t; // tells messages of one member to another from each other

    // `members`: places, by ranks; they stay.
    team_operation(std::uint64_t team, std::vector<int> const& members, int rank)
        : m_members(members), m_mine(rank), m_message{team, begin_collective(team), 0} {}

    [[nodiscard]] int rank() const noexcept { return m_mine; }
    [[nodiscard]] int size() const noexcept { return static_cast<int>(m_members.size()); }
    [[nodiscard]] int after(int distance) const noexcept { return (m_mine + distance) % size(); }
    [[nodiscard]] int before(int distance) const noexcept {
        return (m_mine - distance + size()) % size();
    }

    template <class F> void attempt(F action) {
        if (!has_failed()) note_failure(action);
    }
    TULLE_API void end() const;

    // Nothing: this member has failed.
    template <class T> [[nodiscard]] std::optional<T> copy_of(T const& value) {
        std::optional<T> copy;
        attempt([&] { copy.emplace(value); });
        return copy;
    }
    template <class T> void send(int to, step_number step, T const& value) {
        send_result(to, step, [&]() -> T const& { return value; });
    }
    // What `get` returns; it is not called once this member has failed.
    template <class F> void send_result(int to, step_number step, F get) {
        bool is_sent = false;
        attempt([&] {
            wire_writer bytes(place_of(to));
            bytes.put(true);
            bytes.put(get());
            post(to, step, bytes);
            is_sent = true;
        });
        if (!is_sent) send_failure(to, step);
    }
    // Nothing: this member or that one has failed.
    template <class T> [[nodiscard]] std::optional<T> receive(int from, step_number step) {
        static_assert(!is_view<T>, "a view is gone when its message is: send a container");
        collective_message wanted = m_message;
        wanted.step = step;
        remote_result bytes;
        bool has_come = false;
        note_failure([&] { // also once this member has failed: it is for nobody else
            bytes = take_collective(place_of(from), wanted);
            has_come = true;
        });
        std::optional<T> value;
        if (!has_come) return value;
        attempt([&] {
            wire_reader in(bytes.bytes());
            if (in.get<bool>())
                value = in.get<T>();
            else
                m_why = in.get<std::string>();
        });
        return value;
    }

    // --- parts of operations; all members call them ----------------------------------------------

    // A binomial tree: a member that has the value hands it on, over half of the distance each
    // time.
    template <class T> void spread(T& value, int root, step_number step) {
        int const mine = before(root); // as if the root had number 0
        int distance = mine != 0 ? mine & -mine
                                 : static_cast<int>(std::bit_ceil(static_cast<unsigned>(size())));
        if (mine != 0) {
            std::optional<T> got = receive<T>(before(distance), step);
            if (got) value = *std::move(got);
        }
        for (distance /= 2; distance != 0; distance /= 2)
            if (mine + distance < size()) send(after(distance), step, value);
    }
    // A binomial tree towards rank 0, in which a receiver has the values of all ranks below those
    // of the sender.
    template <class T, class Op> void combine_at_zero(T& value, Op& op) {
        for (int distance = 1; distance < size(); distance *= 2) {
            if ((m_mine & distance) != 0)
                return send(m_mine - distance, static_cast<step_number>(distance), value);
            if (m_mine + distance >= size()) continue;
            std::optional<T> theirs =
                receive<T>(m_mine + distance, static_cast<step_number>(distance));
            if (theirs)
                attempt([&] { value = detail::invoke(op, std::move(value), *std::move(theirs)); });
        }
    }
    // Each exchanges with a partner what it has by then; for sizes that are powers of two. Half of
    // the steps of a tree there and back.
    template <class T, class Op> void combine_everywhere(T& value, Op& op) {
        for (int distance = 1; distance < size(); distance *= 2) {
            int const partner = m_mine ^ distance;
            send(partner, static_cast<step_number>(distance), value);
            std::optional<T> theirs = receive<T>(partner, static_cast<step_number>(distance));
            if (!theirs) continue;
            attempt([&] {
                value = m_mine < partner ? detail::invoke(op, std::move(value), *std::move(theirs))
                                         : detail::invoke(op, *std::move(theirs), std::move(value));
            });
        }
    }

    // A round of a barrier: tells the members at multiples of `distance` below `end` after this
    // one, and hears from those before it.
    TULLE_API void meet(unsigned round, int distance, int end);

    // To each other member its own value, the nearest first; their number has been checked.
    template <class T> void send_each(std::vector<T> const& values) {
        for (int distance = 1; distance < size(); ++distance)
            send_result(after(distance), 0, [&]() -> T const& {
                return values[static_cast<std::size_t>(after(distance))];
            });
    }
    // One value of each, by ranks; that of this member is given. Fewer when something has failed.
    template <class T> [[nodiscard]] std::vector<T> receive_all(std::optional<T> mine) {
        std::vector<T> values;
        for (int from = 0; from < size(); ++from) {
            std::optional<T> got = from != m_mine ? receive<T>(from, 0) : std::move(mine);
            if (got) attempt([&] { values.push_back(*std::move(got)); });
        }
        return values;
    }

private:
    [[nodiscard]] int place_of(int rank) const noexcept {
        return m_members[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] bool has_failed() const noexcept { return !m_why.empty(); }
    template <class F> void note_failure(F action) noexcept {
        TULLE_TRY { action(); }
        TULLE_CATCH(...) { fail(caught_message()); }
    }
    TULLE_API void fail(char const* why) noexcept;
    TULLE_API void send_failure(int to, step_number step);
    void post_failure(int to, step_number step, std::string const& why);
    TULLE_API void post(int to, step_number step, wire_writer& bytes);

    std::vector<int> const& m_members;
    int m_mine;
    collective_message m_message;
    std::string m_why;           // of the first failure, here or elsewhere
    std::exception_ptr m_thrown; // here
};

} // namespace detail
} // namespace tulle
