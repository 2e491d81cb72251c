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

template <class F, std::size_t Size>
inline constexpr bool
    fits_inline = sizeof(closure<F>) <= Size &&
                  alignof(closure<F>) <= 8 && std::is_nothrow_move_constructible_v<F>;

} // namespace tulle::detail
