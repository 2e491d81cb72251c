// SPDX-License-Identifier: Apache-2.0
// Places: one program that runs in several processes. Each has its own memory, workers and threads;
// code goes from one to the other. `tulle run -n 4 PROG` starts four of them on this machine;
// without it there is one, and all of this works.
// main() runs at place 0. The other processes run main, too, but only until they use Tulle for the
// first time: then they serve, and end when place 0 has ended. So use Tulle before anything that
// should happen once (tulle::initialize() will do), and in the main thread first.
// Contexts: any thread of the process.
// Sources: places, at and async of X10 (Charles and others, OOPSLA 2005); the protocol is that of
// OctoPOS (Mohr and others, ROSS 2015).
#pragma once

#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/future.hpp>

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace tulle {

// A process of the program.
class place {
public:
    // Errors: std::out_of_range: there is none of that number.
    explicit place(int index) : m_index(index) { detail::check_place(index); }
    // From 0 to place_count() - 1.
    [[nodiscard]] int index() const noexcept { return m_index; }
    // Whether the caller's place knows that it has died. Always false unless deaths are survived
    // (dead_place).
    [[nodiscard]] bool is_dead() const { return detail::is_dead_place(m_index); }
    // False: it has memory only (memory_places()).
    [[nodiscard]] bool runs_threads() const { return m_index < detail::place_count(); }
    friend auto operator<=>(place const&, place const&) noexcept = default;

private:
    friend class place_range;
    struct known {};
    place(int index, known /*to exist*/) noexcept : m_index(index) {}

    int m_index;
};

// All places, in order: for (place p : places()).
class place_range {
public:
    // Gives the places one after the other.
    class iterator {
    public:
        using difference_type = int;
        using value_type = place;
        explicit iterator(int index) noexcept : m_index(index) {}
        [[nodiscard]] place operator*() const noexcept { return {m_index, place::known{}}; }
        iterator& operator++() noexcept {
            ++m_index;
            return *this;
        }
        iterator operator++(int) noexcept { return iterator(m_index++); }
        friend bool operator==(iterator const&, iterator const&) noexcept = default;

    private:
        int m_index;
    };

    // Made by places().
    explicit place_range(int count, int first = 0) noexcept : m_first(first), m_count(count) {}
    [[nodiscard]] iterator begin() const noexcept { return iterator(m_first); }
    [[nodiscard]] iterator end() const noexcept { return iterator(m_first + m_count); }
    // How many places there are.
    [[nodiscard]] int size() const noexcept { return m_count; }

private:
    int m_first;
    int m_count;
};

// Places that run threads of the program. These start the run time if need be.
[[nodiscard]] inline place_range places() { return place_range(detail::place_count()); }
[[nodiscard]] inline int place_count() { return detail::place_count(); }
// Places that have memory for the others and run nothing, with the numbers that follow: none,
// unless `tulle run --memory-places` says how many. Each has a part of global memory
// (<tulle/global_memory.hpp>), with words and objects in it, which the others use as any
// (<tulle/global_feb.hpp>, <tulle/at_home.hpp>). They are no members of teams.
[[nodiscard]] inline place_range memory_places() {
    return place_range(detail::memory_place_count(), detail::place_count());
}
[[nodiscard]] inline place here() { return place(detail::here_index()); }

// An exception of another place that cannot be thrown as what it was. What arrives as itself does
// not say which place it comes from: exceptions of exactly these types
//   std::bad_alloc, bad_array_new_length, out_of_global_memory;
//   std::runtime_error, logic_error and the others of <stdexcept>; std::system_error of the
//   generic and the system category;
//   std::bad_cast, bad_typeid, bad_function_call, bad_weak_ptr, bad_optional_access,
//   bad_variant_access;
//   exception_list, dead_place, wire_error, remote_error.
// Others, also what derives from these, arrive as this, whose what() ends with
// "(TYPE, thrown at place N)".
class remote_error : public std::runtime_error {
public:
    // Made where an answer comes back. Without a type, `text` is the library's own.
    remote_error(int place, std::string type, std::string text)
        : std::runtime_error(type.empty() ? text
                                          : text + " (" + type + ", thrown at place " +
                                                std::to_string(place) + ")"),
          m_place(place),
          m_type(std::move(type)),
          m_text(std::move(text)) {}
    // The number of the place where it was thrown.
    [[nodiscard]] int place() const noexcept { return m_place; }
    // As it is written in the source.
    [[nodiscard]] std::string const& type() const noexcept { return m_type; }
    // What what() was there.
    [[nodiscard]] std::string const& text() const noexcept { return m_text; }

private:
    int m_place;
    std::string m_type, m_text;
};

// Something was wanted of a place that has died. By default the program ends when a place dies;
// with TULLE_ON_PLACE_DEATH=throw, and places that `tulle run -n` or Open MPI 5 has started, the
// others go on, unless it was place 0, and what needed that place throws this: calls, activities
// that are started there, collective operations, clocks and mutexes whose members or owners were
// there, allocations that it managed; and a finish, once all activities of the survivors have
// ended. A finish whose own place has died is not waited for by anybody; its activities go on.
class dead_place : public std::runtime_error {
public:
    // Made where the death is noticed.
    dead_place(int place, std::uint64_t lost, std::string const& what)
        : std::runtime_error(what), m_place(place), m_lost(lost) {}
    // The number of the place that has died.
    [[nodiscard]] int place() const noexcept { return m_place; }
    // Of a finish: activities and calls at that place of whose end nothing was heard, and such as
    // it had sent and that never arrived. Else 0.
    [[nodiscard]] std::uint64_t lost() const noexcept { return m_lost; }

private:
    int m_place;
    std::uint64_t m_lost;
};

namespace detail {

// Functions that take a place, and then f(a...), have a deleted form for numbers: the compiler
// shows the line that says what is wrong.
template <class N, class F, class... A>
concept number_for_place = std::is_integral_v<N> && std::is_invocable_v < std::decay_t<F>
&, std::decay_t<A>... > ;

// at() of the library itself, also at places that have memory only.
template <class F, class... A>
std::invoke_result_t<std::decay_t<F>&, std::decay_t<A>...> serve_at(place there, F&& f,
                                                                    A&&... arguments) {
    using call = remote_call<std::decay_t<F>, std::decay_t<A>...>;
    if (there.index() == here_index()) {
        std::decay_t<F> own(std::forward<F>(f));
        return invoke(own, std::decay_t<A>(std::forward<A>(arguments))...);
    }
    wire_writer out(there.index());
    call::put(out, f, arguments...);
    remote_result const back = call_at(there.index(), &call::run, out);
    if constexpr (!std::is_void_v<typename call::result>) {
        wire_reader in(back.bytes());
        return in.get<typename call::result>();
    }
}

} // namespace detail

// Calls `f(arguments...)` at that place and waits for the result, which other threads of this
// place's workers do not. Callable, arguments and result travel (<tulle/wire.hpp>); here they are
// copied, or moved from rvalues, and called directly, so that a shared_ptr leads to the object of
// the caller. Activities that it starts belong to the caller's finish.
// A capture by reference is not refused, since nothing tells it from bytes, but means nothing at
// another place: TULLE_CHECK=1 finds such.
// Errors: what the call throws, as itself or as remote_error; remote_error: the place runs another
// program; dead_place; std::bad_alloc; std::system_error (EOPNOTSUPP): it is a memory place;
// std::invalid_argument: arguments or result hold an address of the place that sends them, with
// TULLE_CHECK=1.
// Memory ordering: what happens before at() happens before the call, and what happens in it before
// the return of at().
// Messages: one there, one back; up to two more for arguments or results of more than a few KiB.
template <class F, class... A>
std::invoke_result_t<std::decay_t<F>&, std::decay_t<A>...> at(place there, F&& f,
                                                              A&&... arguments) {
    detail::check_runs_threads(there.index());
    return detail::serve_at(there, std::forward<F>(f), std::forward<A>(arguments)...);
}

template <class N, class F, class... A>
requires detail::number_for_place<N, F, A...>
void at(N, F&&, A&&...) = delete; // a place is wanted: tulle::place(1) instead of 1

// Calls `f(arguments...)` at that place, as at() does, and returns the future of the result.
template <class F, class... A> auto async_at(place there, F&& f, A&&... arguments) {
    return async([there, own = std::decay_t<F>(std::forward<F>(f)),
                  values =
                      std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)]() mutable {
        return std::apply(
            [&](auto&... each) { return at(there, std::move(own), std::move(each)...); }, values);
    });
}

template <class N, class F, class... A>
requires detail::number_for_place<N, F, A...>
void async_at(N, F&&, A&&...) = delete; // a place is wanted: tulle::place(1) instead of 1

// An object of one place, known to all. Does not own it.
template <class T> class global_ref {
public:
    using element_type = T;
    // Of an object of the caller's place, which must outlive the last use of it.
    explicit global_ref(T& object)
        : m_place(detail::here_index()),
          m_address(~reinterpret_cast<std::uintptr_t>(std::addressof(object))) {}
    // Where the object is.
    [[nodiscard]] place home() const { return place(static_cast<int>(m_place)); }
    [[nodiscard]] std::uint64_t address() const noexcept { return ~m_address; } // there
    // Errors: std::logic_error: the caller is at another place.
    [[nodiscard]] T& operator*() const {
        if (m_place != detail::here_index())
            TULLE_THROW(std::logic_error("tulle::global_ref: the object is at place " +
                                         std::to_string(m_place)));
        return *reinterpret_cast<T*>(~m_address); // NOLINT(performance-no-int-to-ptr)
    }
    [[nodiscard]] T* operator->() const { return std::addressof(**this); }

private:
    std::int64_t m_place; // as wide as the address, so that nothing lies between the two
    // Its complement: the option `check` searches for addresses that travel by mistake.
    std::uintptr_t m_address;
};

} // namespace tulle
