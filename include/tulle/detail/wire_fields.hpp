// SPDX-License-Identifier: Apache-2.0
// The members of an aggregate, by structured bindings: how many there are, and a call with all of
// them. Compilers tell only what an aggregate can be initialised with: how many members there are
// follows from with how many values that can be done. Source: the idea is that of Boost.PFR.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tulle::detail {

inline constexpr std::size_t k_most_fields = 32;

// Can be converted to any type that a member may have; never is.
template <class T> struct any_field {
    template <class F>
    requires(!std::is_base_of_v<F, T> && !std::is_union_v<F>) operator F() const noexcept {
        __builtin_unreachable();
    }
};
// Can be converted to base classes.
template <class T> struct any_base {
    template <class F>
    requires(std::is_base_of_v<F, T> && !std::is_same_v<F, T>) operator F() const noexcept {
        __builtin_unreachable();
    }
};
template <class T> struct any_union {
    template <class F>
    requires std::is_union_v<F>
    operator F() const noexcept { __builtin_unreachable(); }
};
template <class T, std::size_t /*K*/> using kth_any_field = any_field<T>;

template <class T, class Before, class After> inline constexpr bool takes_nothing_between = false;
template <class T, std::size_t... B, std::size_t... A>
requires requires { T{kth_any_field<T, B>{}..., {}, kth_any_field<T, A>{}...}; }
inline constexpr bool
    takes_nothing_between<T, std::index_sequence<B...>, std::index_sequence<A...>> = true;
template <class T, class Before> inline constexpr bool takes_union_after = false;
template <class T, std::size_t... B>
requires requires { T{kth_any_field<T, B>{}..., any_union<T>{}}; }
inline constexpr bool takes_union_after<T, std::index_sequence<B...>> = true;
template <class T, class All> inline constexpr bool takes_values = false;
template <class T, std::size_t... K>
requires requires { T{kth_any_field<T, K>{}...}; }
inline constexpr bool takes_values<T, std::index_sequence<K...>> = true;

// The most values that it can be initialised with; one of an array for each of its elements.
template <class T, std::size_t N = k_most_fields + 1> consteval std::size_t most_values() {
    if constexpr (N == 0 || takes_values<T, std::make_index_sequence<N>>)
        return N;
    else
        return most_values<T, N - 1>();
}
// The values that the member takes before which there are `Before`, if `Left` are left with it: an
// array that is initialised by {} takes more than one.
template <class T, std::size_t Before, std::size_t Left, std::size_t Taken = 1>
consteval std::size_t values_of_member() {
    if constexpr (Taken > Left)
        return 1; // it cannot be initialised by {}
    else if constexpr (takes_nothing_between<T, std::make_index_sequence<Before>,
                                             std::make_index_sequence<Left - Taken>>)
        return Taken;
    else
        return values_of_member<T, Before, Left, Taken + 1>();
}
template <class T, std::size_t All, std::size_t Before = 0> consteval std::size_t count_members() {
    if constexpr (Before >= All)
        return 0;
    else
        return 1 + count_members<T, All, Before + values_of_member<T, Before, All - Before>()>();
}

// One without a name makes structured bindings ill-formed.
template <class T, std::size_t... K>
consteval bool has_union(std::index_sequence<K...> /*values*/) {
    return (takes_union_after<T, std::make_index_sequence<K>> || ...);
}

// Types for which structured bindings do not show the members.
template <class T>
concept is_like_tuple = requires {
    std::tuple_size<T>::value;
};

template <class T> consteval std::size_t count_fields() {
    if constexpr (!std::is_aggregate_v<T> || !std::is_class_v<T> || is_like_tuple<T>) {
        return 0;
    } else if constexpr (requires { T{any_base<T>{}}; }) {
        return 0;
    } else {
        constexpr std::size_t values = most_values<T>();
        if constexpr (values > k_most_fields || has_union<T>(std::make_index_sequence<values>{}))
            return 0;
        else
            return count_members<T, values>();
    }
}
// How many members an aggregate has; 0: it has none, more than k_most_fields (elements of arrays
// count), a base class, a union, or a member that is a reference to what may be changed.
template <class T> inline constexpr std::size_t field_count = count_fields<std::remove_cv_t<T>>();

// A reference to constant, which can be to a copy of a bit-field.
template <class... T, class Visit, class... Field>
decltype(auto) call_with(Visit& visit, Field const&... fields) {
    return visit.template operator()<T...>(fields...);
}
template <std::size_t N, class T, class Visit>
decltype(auto) visit_1_to_8(T& object, Visit& visit) {
    if constexpr (N == 1) {
        auto& [a] = object;
        return call_with<decltype(a)>(visit, a);
    } else if constexpr (N == 2) {
        auto& [a, b] = object;
        return call_with<decltype(a), decltype(b)>(visit, a, b);
    } else if constexpr (N == 3) {
        auto& [a, b, c] = object;
        return call_with<decltype(a), decltype(b), decltype(c)>(visit, a, b, c);
    } else if constexpr (N == 4) {
        auto& [a, b, c, d] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d)>(visit, a, b, c, d);
    } else if constexpr (N == 5) {
        auto& [a, b, c, d, e] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e)>(
            visit, a, b, c, d, e);
    } else if constexpr (N == 6) {
        auto& [a, b, c, d, e, f] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f)>(visit, a, b, c, d, e, f);
    } else if constexpr (N == 7) {
        auto& [a, b, c, d, e, f, g] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g)>(visit, a, b, c, d, e, f, g);
    } else if constexpr (N == 8) {
        auto& [a, b, c, d, e, f, g, h] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h)>(visit, a, b, c, d, e, f, g, h);
    }
}
template <std::size_t N, class T, class Visit>
decltype(auto) visit_9_to_16(T& object, Visit& visit) {
    if constexpr (N == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i)>(visit, a, b, c, d, e,
                                                                             f, g, h, i);
    } else if constexpr (N == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j)>(
            visit, a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (N == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k)>(visit, a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (N == 12) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l)>(visit, a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (N == 13) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m)>(visit, a, b, c, d, e, f, g, h, i, j,
                                                                k, l, m);
    } else if constexpr (N == 14) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    } else if constexpr (N == 15) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    } else if constexpr (N == 16) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    }
}
template <std::size_t N, class T, class Visit>
decltype(auto) visit_17_to_24(T& object, Visit& visit) {
    if constexpr (N == 17) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n,
                                                   o, p, q);
    } else if constexpr (N == 18) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r)>(visit, a, b, c, d, e, f, g, h, i, j,
                                                                k, l, m, n, o, p, q, r);
    } else if constexpr (N == 19) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
    } else if constexpr (N == 20) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
    } else if constexpr (N == 21) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r,
                                      s, t, u);
    } else if constexpr (N == 22) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n,
                                                   o, p, q, r, s, t, u, v);
    } else if constexpr (N == 23) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
    } else if constexpr (N == 24) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
    }
}
template <std::size_t N, class T, class Visit>
decltype(auto) visit_25_to_28(T& object, Visit& visit) {
    if constexpr (N == 25) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y);
    } else if constexpr (N == 26) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] =
            object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r,
                                      s, t, u, v, w, x, y, z);
    } else if constexpr (N == 27) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa] =
            object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z), decltype(aa)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n,
                                                    o, p, q, r, s, t, u, v, w, x, y, z, aa);
    } else if constexpr (N == 28) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
               ab] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z), decltype(aa), decltype(ab)>(visit, a, b, c, d, e, f, g, h, i,
                                                                  j, k, l, m, n, o, p, q, r, s, t,
                                                                  u, v, w, x, y, z, aa, ab);
    }
}
template <std::size_t N, class T, class Visit>
decltype(auto) visit_29_to_32(T& object, Visit& visit) {
    if constexpr (N == 29) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab,
               ac] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z), decltype(aa), decltype(ab), decltype(ac)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
            ab, ac);
    } else if constexpr (N == 30) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab,
               ac, ad] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z), decltype(aa), decltype(ab), decltype(ac), decltype(ad)>(
            visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
            ab, ac, ad);
    } else if constexpr (N == 31) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab,
               ac, ad, ae] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z), decltype(aa), decltype(ab), decltype(ac), decltype(ad),
                         decltype(ae)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r,
                                       s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae);
    } else if constexpr (N == 32) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab,
               ac, ad, ae, af] = object;
        return call_with<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(f), decltype(g), decltype(h), decltype(i), decltype(j),
                         decltype(k), decltype(l), decltype(m), decltype(n), decltype(o),
                         decltype(p), decltype(q), decltype(r), decltype(s), decltype(t),
                         decltype(u), decltype(v), decltype(w), decltype(x), decltype(y),
                         decltype(z), decltype(aa), decltype(ab), decltype(ac), decltype(ad),
                         decltype(ae), decltype(af)>(visit, a, b, c, d, e, f, g, h, i, j, k, l, m,
                                                     n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab,
                                                     ac, ad, ae, af);
    }
}

// Calls visit<types>(members) with all members and the types by which they are declared.
template <class T, class Visit> decltype(auto) visit_fields(T& object, Visit visit) {
    constexpr std::size_t n = field_count<T>;
    if constexpr (n <= 8)
        return visit_1_to_8<n>(object, visit);
    else if constexpr (n <= 16)
        return visit_9_to_16<n>(object, visit);
    else if constexpr (n <= 24)
        return visit_17_to_24<n>(object, visit);
    else if constexpr (n <= 28)
        return visit_25_to_28<n>(object, visit);
    else
        return visit_29_to_32<n>(object, visit);
}

} // namespace tulle::detail
