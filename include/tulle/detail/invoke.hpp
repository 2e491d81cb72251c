// SPDX-License-Identifier: Apache-2.0
// What callables need of <functional>, the rest of which (hash tables, std::function, searchers)
// takes a compiler as long as half of Tulle: std::less, std::plus, std::ref, and as `invoke` what
// std::invoke does.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <type_traits>

#if defined(__has_include) &&                                                                      \
    __has_include(<bits/stl_function.h>) && __has_include(<bits/refwrap.h>) // of GNU's library
#include <bits/refwrap.h>
#include <bits/stl_function.h>
#else
#include <functional>
#endif

namespace tulle::detail {

template <class T> inline constexpr bool is_reference_wrapper = false;
template <class T> inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

// The object that a pointer to a member is applied to: itself, what it refers to, or what it points
// to.
template <class Class, class T> TULLE_INLINE constexpr decltype(auto) object_of(T&& object) {
    if constexpr (std::is_base_of_v<Class, std::remove_cvref_t<T>>)
        return static_cast<T&&>(object);
    else if constexpr (is_reference_wrapper<std::remove_cvref_t<T>>)
        return object.get();
    else
        return *static_cast<T&&>(object);
}
template <class Member, class Class, class T, class... A>
TULLE_INLINE constexpr decltype(auto) invoke_member(Member Class::*member, T&& object,
                                                    A&&... arguments) {
    if constexpr (std::is_function_v<Member>)
        return (object_of<Class>(static_cast<T&&>(object)).*member)(static_cast<A&&>(arguments)...);
    else
        return (object_of<Class>(static_cast<T&&>(object)).*member);
}

template <class F, class... A>
requires std::is_invocable_v<F, A...> TULLE_INLINE constexpr std::invoke_result_t<F, A...>
invoke(F&& callable, A&&... arguments) noexcept(std::is_nothrow_invocable_v<F, A...>) {
    if constexpr (std::is_member_pointer_v<std::decay_t<F>>)
        return invoke_member(callable, static_cast<A&&>(arguments)...);
    else
        return static_cast<F&&>(callable)(static_cast<A&&>(arguments)...);
}

} // namespace tulle::detail
