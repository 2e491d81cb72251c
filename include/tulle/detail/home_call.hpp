// SPDX-License-Identifier: Apache-2.0
// Operations that may wait, on an object of another place: they run there, in a thread that waits
// as any thread of that place does, and the caller waits for the answer. A limit is watched where
// it was given: when it is reached, home is told to end the wait, and its answer says which was
// first. So clocks need not agree, and nothing that has been done is reported as not done.
// What home keeps of such waits, and why nothing is lost with a caller that dies:
// src/team/home_waits.hpp.
#pragma once

#include <tulle/cancellation.hpp>
#include <tulle/detail/collective.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/global_memory.hpp>
#include <tulle/detail/limit.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/place.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace tulle::teams {
class home_waits;
}

namespace tulle::detail {

// The place that asks, and how.
struct home_request {
    std::uint64_t number; // by which its limit will be told; 0: it has none
    int from;
    std::uint32_t waits; // 1; 0: it only tries
};

// A wait at the calling thread's place, known there until it is over. It ends early when its limit
// is reached, when the place that asked has died, and when the one that held the object has.
class home_wait {
public:
    // `object`: that somebody may hold; 0: none. `whole`: a limit that was given here. Throws
    // std::bad_alloc.
    TULLE_API home_wait(home_request const& by, std::uint64_t object, limit whole);
    home_wait(home_wait const&) = delete;
    home_wait& operator=(home_wait const&) = delete;
    TULLE_API ~home_wait();

    [[nodiscard]] limit get() const noexcept { return {m_deadline, m_over.get()}; }
    // Of a wait that is over, in vain: throws dead_place if it is because the place has died that
    // held the object.
    TULLE_API void check_holder() const;

private:
    friend class teams::home_waits;

    cancellation_reference m_over;
    std::uint64_t m_deadline;
    home_request m_by;
    std::uint64_t m_object;
    int m_dead_holder = -1; // guarded by the lock of home_waits, as are the next two
    home_wait* m_next = nullptr;
    home_wait* m_before = nullptr;
};

// For objects that one place at a time holds. From now on that place holds the object, which is of
// the calling thread's place. Throws dead_place: that place has died; std::bad_alloc.
TULLE_API void hold_object(std::uint64_t object, int place);
// That place does not hold it any more. Throws std::logic_error: it does not hold it, nor has a
// place died that did.
TULLE_API void let_object_go(std::uint64_t object, int place);
// Throws dead_place: the place that held it has died.
TULLE_API void check_object(std::uint64_t object);

// call_at with a request of that number in it, and a limit that is watched meanwhile.
TULLE_API remote_result call_within(int place, remote_code code, wire_writer& arguments,
                                    std::uint64_t number, limit until);

// Where the object lies that has so many bytes at a global address. Throws as global memory does;
// std::invalid_argument, too: at two places.
[[nodiscard]] TULLE_API int home_of_object(std::uint64_t address, std::size_t bytes,
                                           std::size_t alignment);

// Where an object is, as its home takes it.
template <class T> class location {
public:
    location(std::uint64_t address, bool global) noexcept
        : is_global(global ? 1 : 0), m_address(~address) {}
    // 1; 0: of private memory. A word, so that nothing lies between the two
    std::uint64_t is_global;

    [[nodiscard]] std::uint64_t address() const noexcept { return ~m_address; }
    // At its home, which may not have used global memory so far. Throws std::system_error: it
    // cannot be mapped.
    [[nodiscard]] T& object() const {
        void* const there = is_global ? reach_global(address(), sizeof(T), 1)
                                      : reinterpret_cast<void*>(address()); // NOLINT: of this place
        return *static_cast<T*>(there);
    }

private:
    // Its complement: the option `check` searches for addresses that travel by mistake.
    std::uint64_t m_address;
};

// The first of A is the location of the object there. F is a class of static functions:
//   R run(home_request const& by, limit until, A&...)  performs the operation. !R: the limit was
//                                                      reached. The call throws what this throws.
//   void undo(R& done, A&...)                          nobody will learn that it was done
//   bool k_is_held                                     the object may be held by another place
template <class F, class... A> struct home_call {
    using result =
        decltype(F::run(std::declval<home_request const&>(), limit(), std::declval<A&>()...));

    static void run(wire_reader& in, wire_writer& out) {
        auto const by = in.get<home_request>();
        std::tuple<A...> arguments{in.get<A>()...}; // braces: one after the other
        result done = std::apply([&](A&... each) { return serve(by, {}, each...); }, arguments);
        TULLE_TRY { out.put(done); }
        TULLE_CATCH(...) {
            std::apply([&](A&... each) { take_back(done, each...); }, arguments);
            TULLE_RETHROW;
        }
    }
    static result serve(home_request const& by, limit until, A&... arguments) {
        result done = F::run(by, 0, arguments...);
        if (!done && by.waits) done = wait(by, until, arguments...);
        if (is_dead_place(by.from)) take_back(done, arguments...);
        return done;
    }

private:
    static result wait(home_request const& by, limit until, A&... arguments) {
        home_wait const here(by, F::k_is_held ? address_of(arguments...) : 0, until);
        result done = F::run(by, here.get(), arguments...);
        if (!done) here.check_holder();
        return done;
    }
    // Once.
    static void take_back(result& done, A&... arguments) {
        if (done) F::undo(done, arguments...);
        done = result();
    }
    static std::uint64_t address_of(auto const& object, auto const&... /*others*/) noexcept {
        return object.address();
    }
};

template <class F, class... A> auto call_home(int home, limit until, A... arguments) {
    using call = home_call<F, A...>;
    bool const waits = until.deadline != 0;
    bool const is_limited = waits && (until.deadline != k_no_deadline || until.token != nullptr);
    int const here = here_index();
    if (home == here && !F::k_is_held) return F::run({0, here, waits}, until, arguments...);
    if (home == here) return call::serve({0, here, waits}, until, arguments...);
    home_request const asked{is_limited ? new_name() : 0, here, waits};
    wire_writer out(home);
    out.put(asked);
    (out.put(arguments), ...);
    remote_result const back = call_within(home, &call::run, out, asked.number, until);
    wire_reader in(back.bytes());
    return in.get<typename call::result>();
}

} // namespace tulle::detail
