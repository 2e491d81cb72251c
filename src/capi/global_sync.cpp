// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/global_sync.h>.
#include "capi/limit.hpp"
#include "capi/without_exceptions.hpp"

#include <tulle/at_home.hpp>
#include <tulle/c/feb.h>
#include <tulle/c/global_memory.h>
#include <tulle/c/global_sync.h>
#include <tulle/c/place.h>
#include <tulle/detail/feb_calls.hpp>
#include <tulle/detail/global_memory.hpp>
#include <tulle/detail/home_call.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

namespace tulle::capi {
namespace {

using detail::feb_operation;
using detail::home_request;
using detail::location;

std::uint64_t address_of(void const* object) noexcept {
    return reinterpret_cast<std::uintptr_t>(object);
}
template <class Object> detail::location<Object> location_of(Object const* object) noexcept {
    return {address_of(object), true};
}

// --- at the home ---------------------------------------------------------------------------------

// Whether it was done; throws what is no matter of limits.
bool is_done(int error) {
    if (error == -ETIMEDOUT || error == -ECANCELED) return false;
    if (error != 0) throw std::system_error(-error, std::generic_category());
    return true;
}

tulle_limit_t as_c(detail::limit l) noexcept {
    std::uint64_t const now = l.deadline == 0 || l.deadline == TULLE_FOREVER ? 0 : detail::now_ns();
    std::uint64_t const left = l.deadline == TULLE_FOREVER ? TULLE_FOREVER
                               : l.deadline > now          ? l.deadline - now
                                                           : 0;
    return {left, reinterpret_cast<tulle_cancellation_t*>(l.token)};
}

template <class Word>
std::optional<std::uint64_t> apply_as(feb_operation operation, location<char> there,
                                      std::uint64_t value, detail::limit until) {
    auto word = static_cast<Word>(value);
    if (!detail::feb_calls<Word>::apply(operation, reinterpret_cast<Word*>(&there.object()), word,
                                        until))
        return std::nullopt;
    return word;
}

struct apply_to_word {
    static constexpr bool k_is_held = false;
    static std::optional<std::uint64_t> run(home_request const& /*by*/, detail::limit until,
                                            location<char> there, std::size_t size,
                                            feb_operation operation, std::uint64_t value) {
        switch (size) {
            case 8: return apply_as<std::uint64_t>(operation, there, value, until);
            case 4: return apply_as<std::uint32_t>(operation, there, value, until);
            case 2: return apply_as<std::uint16_t>(operation, there, value, until);
            default: return apply_as<std::uint8_t>(operation, there, value, until);
        }
    }
    static void undo(std::optional<std::uint64_t> const& done, location<char> there,
                     std::size_t size, feb_operation operation, std::uint64_t /*value*/) {
        if (operation == feb_operation::read_fe)
            run({}, {}, there, size, feb_operation::write_ef, *done);
    }
};

struct lock_mutex {
    static constexpr bool k_is_held = true;
    static bool run(home_request const& by, detail::limit until, location<tulle_mutex_t> there) {
        auto* const m = &there.object();
        tulle_limit_t const limit = as_c(until);
        detail::check_object(there.address());
        if (!is_done(tulle_mutex_lock_within(m, &limit))) return false;
        try {
            detail::hold_object(there.address(), by.from);
        } catch (...) {
            tulle_mutex_unlock(m);
            throw;
        }
        return true;
    }
    // The place died with the mutex, as far as anybody can know.
    static void undo(bool /*done*/, location<tulle_mutex_t> /*where*/) noexcept {}
};

struct meet_at_barrier {
    static constexpr bool k_is_held = false;
    static bool run(home_request const& /*by*/, detail::limit until,
                    location<tulle_barrier_t> there) {
        tulle_limit_t const limit = as_c(until);
        return is_done(tulle_barrier_wait_within(&there.object(), &limit));
    }
    // The place has arrived, and the others go on.
    static void undo(bool /*done*/, location<tulle_barrier_t> /*where*/) noexcept {}
};

struct wait_for_signal {
    static constexpr bool k_is_held = false;
    static bool run(home_request const& /*by*/, detail::limit until,
                    location<tulle_signal_t> there) {
        tulle_limit_t const limit = as_c(until);
        return is_done(tulle_signal_wait_within(&there.object(), &limit));
    }
    // Nothing has changed.
    static void undo(bool /*done*/, location<tulle_signal_t> /*where*/) noexcept {}
};

// --- by the caller -------------------------------------------------------------------------------

// f(address, arguments...), an errno value, at the home of the object.
template <class Object, class F, class... A> int call(Object const* object, F f, A... arguments) {
    return without_exceptions([&] {
        int const home =
            detail::home_of_object(address_of(object), sizeof(Object), alignof(Object));
        return detail::serve_at(place(home), f, location_of(object), arguments...);
    });
}

template <class F, class Object, class... A>
auto wait(Object const* object, std::size_t size, std::size_t alignment, tulle_limit_t const* limit,
          A... arguments) {
    int const home = detail::home_of_object(address_of(object), size, alignment);
    return detail::call_home<F>(home, limit != nullptr ? capi::limit_of(*limit) : detail::limit(),
                                location_of(object), arguments...);
}

// A wait without a limit ends in vain only for a place that is cut off.
int reason_of(tulle_limit_t const* limit) noexcept {
    return limit != nullptr ? capi::reason_of(*limit) : -EHOSTDOWN;
}

template <class F, class Object> int wait_for(Object* object, tulle_limit_t const* limit) {
    return without_exceptions([&] {
        return wait<F>(object, sizeof(Object), alignof(Object), limit) ? 0 : reason_of(limit);
    });
}

bool is_size(std::size_t size) noexcept { return size == 1 || size == 2 || size == 4 || size == 8; }

// A word travels as the low bytes of one of 8.
template <class Word> std::uint64_t widen(void const* from) noexcept {
    Word value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class Word> void narrow(void* to, std::uint64_t value) noexcept {
    auto const word = static_cast<Word>(value);
    std::memcpy(to, &word, sizeof word);
}
std::uint64_t value_in(void const* from, std::size_t size) noexcept {
    switch (from != nullptr ? size : 0) {
        case 8: return widen<std::uint64_t>(from);
        case 4: return widen<std::uint32_t>(from);
        case 2: return widen<std::uint16_t>(from);
        case 1: return widen<std::uint8_t>(from);
        default: return 0;
    }
}
void put_value(void* to, std::size_t size, std::uint64_t value) noexcept {
    switch (to != nullptr ? size : 0) {
        case 8: return narrow<std::uint64_t>(to, value);
        case 4: return narrow<std::uint32_t>(to, value);
        case 2: return narrow<std::uint16_t>(to, value);
        case 1: return narrow<std::uint8_t>(to, value);
        default: return;
    }
}

int apply(feb_operation operation, void const* word, void const* from, void* to, std::size_t size,
          tulle_limit_t const* limit) {
    if (!is_size(size)) return -EINVAL;
    return without_exceptions([&] {
        auto const done = wait<apply_to_word>(static_cast<char const*>(word), size, size, limit,
                                              size, operation, value_in(from, size));
        if (!done) return reason_of(limit);
        put_value(to, size, *done);
        return 0;
    });
}
int read(feb_operation operation, void* to, void const* word, std::size_t size,
         tulle_limit_t const* limit) {
    return apply(operation, word, nullptr, to, size, limit);
}
int write(feb_operation operation, void* word, void const* from, std::size_t size,
          tulle_limit_t const* limit = nullptr) {
    return from == nullptr ? -EINVAL : apply(operation, word, from, nullptr, size, limit);
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_global_feb_is_full(const void* word) {
    return call(static_cast<char const*>(word),
                [](location<char> w) { return tulle_feb_is_full(&w.object()); });
}
int tulle_global_feb_fill(void* word, size_t size) {
    return apply(feb_operation::fill, word, nullptr, nullptr, size, nullptr);
}
int tulle_global_feb_empty(void* word, size_t size) {
    return apply(feb_operation::empty, word, nullptr, nullptr, size, nullptr);
}
int tulle_global_feb_purge(void* word, const void* value, size_t size) {
    return apply(feb_operation::purge, word, value, nullptr, size, nullptr);
}
int tulle_global_feb_write_f(void* word, const void* value, size_t size) {
    return write(feb_operation::write_f, word, value, size);
}

int tulle_global_feb_read_xx(void* result, const void* word, size_t size) {
    if (!is_size(size)) return -EINVAL;
    return without_exceptions([&] {
        int const home = tulle::detail::home_of_object(address_of(word), size, size);
        auto const value = tulle::detail::serve_at(
            tulle::place(home),
            [](location<char> w, size_t bytes) {
                uint64_t seen = 0;
                is_done(tulle_feb_read_xx(&seen, &w.object(), bytes));
                return value_in(&seen, bytes);
            },
            location_of(static_cast<char const*>(word)), size);
        put_value(result, size, value);
        return 0;
    });
}

int tulle_global_feb_read_ff(void* result, const void* word, size_t size,
                             const tulle_limit_t* limit) {
    return read(feb_operation::read_ff, result, word, size, limit);
}
int tulle_global_feb_read_fe(void* result, void* word, size_t size, const tulle_limit_t* limit) {
    return read(feb_operation::read_fe, result, word, size, limit);
}
int tulle_global_feb_write_ff(void* word, const void* value, size_t size,
                              const tulle_limit_t* limit) {
    return write(feb_operation::write_ff, word, value, size, limit);
}
int tulle_global_feb_write_ef(void* word, const void* value, size_t size,
                              const tulle_limit_t* limit) {
    return write(feb_operation::write_ef, word, value, size, limit);
}

// The home lives if another one is the dead place.
int tulle_global_mutex_lock(tulle_mutex_t* mutex, const tulle_limit_t* limit) {
    int const error = wait_for<lock_mutex>(mutex, limit);
    return error == -EHOSTDOWN && tulle_place_is_dead(tulle_global_place_of(mutex)) == 0
               ? -EOWNERDEAD
               : error;
}

int tulle_global_mutex_unlock(tulle_mutex_t* mutex) {
    int const here = tulle::detail::here_index();
    return call(
        mutex,
        [](location<tulle_mutex_t> m, int from) {
            return without_exceptions([&] {
                tulle::detail::let_object_go(m.address(), from);
                return tulle_mutex_unlock(&m.object());
            });
        },
        here);
}

int tulle_global_barrier_wait(tulle_barrier_t* barrier, const tulle_limit_t* limit) {
    return wait_for<meet_at_barrier>(barrier, limit);
}

int tulle_global_signal_notify(tulle_signal_t* signal) {
    return without_exceptions([&] {
        int const home = tulle::detail::home_of_object(address_of(signal), sizeof *signal,
                                                       alignof(tulle_signal_t));
        if (home == tulle::detail::here_index()) return tulle_signal_notify(signal);
        // The two are one, but for their errors.
        tulle::detail::notify_at(home, {address_of(signal), true});
        return 0;
    });
}
int tulle_global_signal_add_signalers(tulle_signal_t* signal, uint32_t more) {
    return call(
        signal,
        [](location<tulle_signal_t> s, uint32_t count) {
            return tulle_signal_add_signalers(&s.object(), count);
        },
        more);
}
int tulle_global_signal_wait(tulle_signal_t* signal, const tulle_limit_t* limit) {
    return wait_for<wait_for_signal>(signal, limit);
}
