// SPDX-License-Identifier: Apache-2.0
// Full/empty words of another place: the functions of <tulle/feb.hpp> on a global address of a
// word, a global_ptr or a global_ref. They run at its home, where other threads may use the word
// itself; the caller waits, its worker does not.
//   auto const box = tulle::allocate_global_at<long>(home); // full, as every word
//   tulle::feb::empty(box);                                 // empties it
//   tulle::feb::write_ef(box, 42L);                         // at any place
//   long const taken = tulle::feb::read_fe(box);            // at any other
// The state belongs to the home: where loads and stores reach the word, they do not see it.
// Contexts: any thread of the process, at any place. Memory ordering: as of full/empty words, over
// all places.
// Errors of all: those of the functions on words; those of global memory; dead_place: the home has
// died. A place that dies while it waits has done nothing; a value that was taken for a place that
// had died by then is put back, as soon as the word is empty. What dies with a value that it has
// got, or before it has written, is not known.
// Messages: two, four if a limit is reached; at the home none.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/home_call.hpp>
#include <tulle/feb.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/place.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tulle::detail {

template <class T> inline constexpr bool is_global_address = false;
template <class T> inline constexpr bool is_global_address<global_ptr<T>> = true;
template <class T> inline constexpr bool is_global_address<global_ref<T>> = true;

template <class T> int home_of(global_ptr<T> p, std::size_t alignment) {
    return home_of_object(p.address(), sizeof(T), alignment);
}
template <class T> int home_of(global_ref<T> r, std::size_t /*alignment*/) noexcept {
    return r.home().index();
}

template <class T> location<T> location_of(global_ptr<T> p) noexcept { return {p.address(), true}; }
template <class T> location<T> location_of(global_ref<T> r) noexcept {
    return {r.address(), false};
}

// Where a word is, and what it is.
template <class G> struct feb_at_home {
    using word = typename G::element_type;
    using here = feb_word<word>;

    template <feb_operation What> struct reading {
        static constexpr bool k_is_held = false;
        static std::optional<word> run(home_request const& /*by*/, limit until, location<word> w) {
            return here::read(What, w.object(), until);
        }
        static void undo(std::optional<word> const& done, location<word> w) {
            if (What == feb_operation::read_fe)
                here::write(feb_operation::write_ef, w.object(), *done, k_no_deadline);
        }
    };
    template <feb_operation What> struct writing {
        static constexpr bool k_is_held = false;
        static bool run(home_request const& /*by*/, limit until, location<word> w, word value) {
            return here::write(What, w.object(), value, until);
        }
        // It is written.
        static void undo(bool /*done*/, location<word> /*where*/, word /*value*/) noexcept {}
    };

    template <feb_operation What> static std::optional<word> read(G const& w, limit until) {
        return call_home<reading<What>>(home_of(w, sizeof(word)), until, location_of(w));
    }
    template <feb_operation What> static bool write(G const& w, word value, limit until) {
        return call_home<writing<What>>(home_of(w, sizeof(word)), until, location_of(w), value);
    }
    // f(word, arguments...) there.
    template <class F, class... A> static auto call(G const& w, F f, A... arguments) {
        return serve_at(place(home_of(w, sizeof(word))), f, location_of(w), arguments...);
    }
};

} // namespace tulle::detail

namespace tulle::feb {

// A global address of a full/empty word.
template <class G>
concept global_word_address = detail::is_global_address<G> && word<typename G::element_type>;
// The word that a global address leads to.
template <class G> using word_at = typename G::element_type;

// Whether the word is full; another thread may have changed that since.
template <global_word_address G> [[nodiscard]] bool is_full(G const& w) {
    return detail::feb_at_home<G>::call(
        w, [](detail::location<word_at<G>> a) { return is_full(a.object()); });
}
// What is in it, full or empty.
template <global_word_address G> [[nodiscard]] word_at<G> read_xx(G const& w) {
    return detail::feb_at_home<G>::call(
        w, [](detail::location<word_at<G>> a) { return read_xx(a.object()); });
}
// Makes it full as it is.
template <global_word_address G> void fill(G const& w) {
    detail::feb_at_home<G>::call(w, [](detail::location<word_at<G>> a) { fill(a.object()); });
}
// Makes it empty; the value stays until somebody writes.
template <global_word_address G> void empty(G const& w) {
    detail::feb_at_home<G>::call(w, [](detail::location<word_at<G>> a) { empty(a.object()); });
}
// Writes, and makes it empty.
template <global_word_address G> void purge(G const& w, word_at<G> value = {}) {
    static_cast<void>(
        detail::feb_at_home<G>::template write<detail::feb_operation::purge>(w, value, 0));
}
// Writes, and makes it full.
template <global_word_address G> void write_f(G const& w, word_at<G> value) {
    static_cast<void>(
        detail::feb_at_home<G>::template write<detail::feb_operation::write_f>(w, value, 0));
}

// Waits until it is full, reads, and leaves it full.
template <global_word_address G> [[nodiscard]] word_at<G> read_ff(G const& w) {
    return *detail::feb_at_home<G>::template read<detail::feb_operation::read_ff>(w, {});
}
template <global_word_address G>
[[nodiscard]] std::optional<word_at<G>> read_ff(G const& w, wait_limit const& limit) {
    return detail::feb_at_home<G>::template read<detail::feb_operation::read_ff>(w, limit.get());
}
template <global_word_address G> [[nodiscard]] std::optional<word_at<G>> try_read_ff(G const& w) {
    return detail::feb_at_home<G>::template read<detail::feb_operation::read_ff>(w, 0);
}
template <global_word_address G, class Rep, class Period>
[[nodiscard]] std::optional<word_at<G>>
try_read_ff_for(G const& w, std::chrono::duration<Rep, Period> const& timeout) {
    return read_ff(w, wait_limit(timeout));
}
template <global_word_address G, class Clock, class Duration>
[[nodiscard]] std::optional<word_at<G>>
try_read_ff_until(G const& w, std::chrono::time_point<Clock, Duration> const& deadline) {
    return read_ff(w, wait_limit(deadline));
}

// Waits until it is full, reads, and makes it empty.
template <global_word_address G> word_at<G> read_fe(G const& w) {
    return *detail::feb_at_home<G>::template read<detail::feb_operation::read_fe>(w, {});
}
template <global_word_address G>
[[nodiscard]] std::optional<word_at<G>> read_fe(G const& w, wait_limit const& limit) {
    return detail::feb_at_home<G>::template read<detail::feb_operation::read_fe>(w, limit.get());
}
template <global_word_address G> [[nodiscard]] std::optional<word_at<G>> try_read_fe(G const& w) {
    return detail::feb_at_home<G>::template read<detail::feb_operation::read_fe>(w, 0);
}
template <global_word_address G, class Rep, class Period>
[[nodiscard]] std::optional<word_at<G>>
try_read_fe_for(G const& w, std::chrono::duration<Rep, Period> const& timeout) {
    return read_fe(w, wait_limit(timeout));
}
template <global_word_address G, class Clock, class Duration>
[[nodiscard]] std::optional<word_at<G>>
try_read_fe_until(G const& w, std::chrono::time_point<Clock, Duration> const& deadline) {
    return read_fe(w, wait_limit(deadline));
}

// Waits until it is full, writes, and leaves it full.
template <global_word_address G> void write_ff(G const& w, word_at<G> value) {
    static_cast<void>(
        detail::feb_at_home<G>::template write<detail::feb_operation::write_ff>(w, value, {}));
}
template <global_word_address G>
[[nodiscard]] bool write_ff(G const& w, word_at<G> value, wait_limit const& limit) {
    return detail::feb_at_home<G>::template write<detail::feb_operation::write_ff>(w, value,
                                                                                   limit.get());
}
template <global_word_address G> [[nodiscard]] bool try_write_ff(G const& w, word_at<G> value) {
    return detail::feb_at_home<G>::template write<detail::feb_operation::write_ff>(w, value, 0);
}
template <global_word_address G, class Rep, class Period>
[[nodiscard]] bool try_write_ff_for(G const& w, word_at<G> value,
                                    std::chrono::duration<Rep, Period> const& timeout) {
    return write_ff(w, value, wait_limit(timeout));
}
template <global_word_address G, class Clock, class Duration>
[[nodiscard]] bool try_write_ff_until(G const& w, word_at<G> value,
                                      std::chrono::time_point<Clock, Duration> const& deadline) {
    return write_ff(w, value, wait_limit(deadline));
}

// Waits until it is empty, writes, and makes it full.
template <global_word_address G> void write_ef(G const& w, word_at<G> value) {
    static_cast<void>(
        detail::feb_at_home<G>::template write<detail::feb_operation::write_ef>(w, value, {}));
}
template <global_word_address G>
[[nodiscard]] bool write_ef(G const& w, word_at<G> value, wait_limit const& limit) {
    return detail::feb_at_home<G>::template write<detail::feb_operation::write_ef>(w, value,
                                                                                   limit.get());
}
template <global_word_address G> [[nodiscard]] bool try_write_ef(G const& w, word_at<G> value) {
    return detail::feb_at_home<G>::template write<detail::feb_operation::write_ef>(w, value, 0);
}
template <global_word_address G, class Rep, class Period>
[[nodiscard]] bool try_write_ef_for(G const& w, word_at<G> value,
                                    std::chrono::duration<Rep, Period> const& timeout) {
    return write_ef(w, value, wait_limit(timeout));
}
template <global_word_address G, class Clock, class Duration>
[[nodiscard]] bool try_write_ef_until(G const& w, word_at<G> value,
                                      std::chrono::time_point<Clock, Duration> const& deadline) {
    return write_ef(w, value, wait_limit(deadline));
}

} // namespace tulle::feb
