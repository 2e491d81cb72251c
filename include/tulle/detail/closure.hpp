// SPDX-License-Identifier: Apache-2.0
// A callable and, later, its result in the same bytes. The callable is moved out before it runs,
// because the slot of a thread that runs as a function call is free for the next fork.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tulle::detail {

template <class R> struct result_holder {
    R value;
    template <class F> explicit result_holder(F& f) : value(f()) {}
    R take() { return std::move(value); }
};
template <class R> struct result_holder<R&> {
    R* value;
    template <class F> explicit result_holder(F& f) : value(std::addressof(f())) {}
    R& take() { return *value; }
};
template <> struct result_holder<void> {
    template <class F> explicit result_holder(F& f) { f(); }
    void take() {}
};

template <class F> union closure {
    using result_type = std::invoke_result_t<F&>;
    using holder = result_holder<result_type>;

    F callable;
    holder result;

    closure() {}
    ~closure() {}

    template <class G> TULLE_INLINE void set(G&& g) {
        ::new (static_cast<void*>(&callable)) F(static_cast<G&&>(g));
    }
    TULLE_INLINE F take_callable() {
        F f(std::move(callable));
        callable.~F();
        return f;
    }
    void evaluate() {
        F f = take_callable();
        ::new (static_cast<void*>(&result)) holder(f);
    }
    void destroy_result() noexcept { result.~holder(); }
    result_type take_result() {
        struct destroy {
            holder& h;
            ~destroy() { h.~holder(); }
        } guard{result};
        return result.take();
    }
};

// An F that is made from a G may be a copy, made by code of the program. That may fork, which would
// take the slot of the thread that is to have it: so the copy comes first.
template <class F, class G>
inline constexpr bool is_copied = !std::is_same_v<F, G> && !std::is_trivially_copyable_v<F>;

template <class F, std::size_t Size>
inline constexpr bool
    fits_inline = sizeof(closure<F>) <= Size &&
                  alignof(closure<F>) <= 8 && std::is_nothrow_move_constructible_v<F>;

} // namespace tulle::detail
