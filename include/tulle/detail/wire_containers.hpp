// SPDX-License-Identifier: Apache-2.0
// How strings, containers, pairs, tuples, optionals and variants travel; included by
// <tulle/wire.hpp>. Those whose headers are long are known by what they have in common, so that
// only code that sends them includes these.
#pragma once

#include <tulle/wire_bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tulle {

namespace detail {

// An element that writes nothing takes a byte all the same: then counts of elements are bounded by
// the bytes that there are.
template <class T> void put_element(wire_writer& out, T const& one) {
    std::size_t const before = out.size();
    out.put(one);
    if constexpr (least_bytes<T> == 0)
        if (out.size() == before) out.put(std::byte{0});
}
template <class T> [[nodiscard]] T get_element(wire_reader& in) {
    if constexpr (least_bytes<T> != 0) {
        return in.get<T>();
    } else {
        std::size_t const before = in.left();
        T one = in.get<T>();
        if (in.left() == before) static_cast<void>(in.get_bytes(1));
        return one;
    }
}
template <class C> void put_elements(wire_writer& out, C const& all) {
    out.put(std::uint64_t{all.size()});
    for (auto const& element : all) put_element(out, element);
}
template <class T, class C> [[nodiscard]] C get_elements(wire_reader& in) {
    C all;
    for (std::size_t left = in.get_count(least_bytes<T>); left != 0; --left)
        all.push_back(get_element<T>(in));
    return all;
}

// std::deque, std::list and so on.
template <class C, class T>
concept is_sequence = requires(C& all, T&& one) {
    typename C::allocator_type;
    all.push_back(static_cast<T&&>(one));
    all.size();
    all.begin();
};

template <class C>
concept is_string = requires {
    typename C::traits_type;
};

// std::set, std::unordered_multimap and so on.
template <class C>
concept sorts_by_key = requires(C& all, typename C::key_type const& key,
                                typename C::value_type&& one) {
    typename C::allocator_type;
    typename C::node_type;
    all.insert(static_cast<typename C::value_type&&>(one));
    all.equal_range(key);
};
template <class C>
concept maps_keys = requires {
    typename C::mapped_type;
};

template <class C>
concept has_each_key_once = requires(C& all, typename C::value_type&& one) {
    all.insert(static_cast<typename C::value_type&&>(one)).second;
};

// Keys are compared when they are inserted, so they must be complete by then, unless it is the
// pointers that are compared.
template <class K> inline constexpr bool is_pointer_object = false;
template <class T, class D> inline constexpr bool is_pointer_object<std::unique_ptr<T, D>> = true;
template <class T> inline constexpr bool is_pointer_object<std::shared_ptr<T>> = true;
template <class C> inline constexpr bool compares_pointers = false;
template <class C>
requires requires { typename C::key_compare; }
inline constexpr bool compares_pointers<C> =
    std::is_same_v<typename C::key_compare, std::less<typename C::key_type>>;
template <class C>
requires requires { typename C::hasher; }
inline constexpr bool compares_pointers<C> =
    std::is_same_v<typename C::hasher, std::hash<typename C::key_type>> &&
    std::is_same_v<typename C::key_equal, std::equal_to<typename C::key_type>>;

template <class C>
inline constexpr bool takes_keys_as_they_are = is_flat<typename C::key_type> ||
                                               (is_pointer_object<typename C::key_type> &&
                                                compares_pointers<C>);

template <class C> void put_key(wire_writer& out, typename C::key_type const& key) {
    outside_of_queue const now(takes_keys_as_they_are<C> ? nullptr : out.graph());
    out.put(key);
}
template <class C> [[nodiscard]] typename C::key_type get_key(wire_reader& in) {
    outside_of_queue const now(takes_keys_as_they_are<C> ? nullptr : in.graph());
    forgotten_objects const dropped(takes_keys_as_they_are<C> ? nullptr : in.graph());
    return in.get<typename C::key_type>();
}
template <class C> void put_keyed(wire_writer& out, typename C::value_type const& one) {
    std::size_t const before = out.size();
    if constexpr (maps_keys<C>) {
        put_key<C>(out, one.first);
        out.put(one.second);
    } else {
        put_key<C>(out, one);
    }
    if (out.size() == before) out.put(std::byte{0});
}
// Objects that a dropped element has could not be filled any more.
template <class C> void refuse_known_key(wire_reader& in, C& all, typename C::key_type const& key) {
    if constexpr (has_each_key_once<C>)
        if (all.find(key) != all.end()) in.refuse("tulle: a message has a key twice");
}
template <class C> void get_keyed(wire_reader& in, C& all) {
    std::size_t const before = in.left();
    auto key = get_key<C>(in);
    refuse_known_key(in, all, key);
    if constexpr (maps_keys<C>)
        all.emplace(std::move(key), in.get<typename C::mapped_type>());
    else
        all.insert(std::move(key));
    if (in.left() == before) static_cast<void>(in.get_bytes(1));
}

template <class V>
concept is_variant = requires(V const& one) {
    one.valueless_by_exception();
    one.index();
};
// Those that are copied byte by byte are left to the general way.
template <class... T>
inline constexpr bool are_bytes = ((copied_alone<T> || (is_nothing<T> && is_flat<T>)) && ...);

} // namespace detail

template <class T, class A> struct wire<std::vector<T, A>> {
    using library = void;
    static constexpr bool k_is_bytes = detail::copied_alone<T> && !std::is_same_v<T, bool>;

    static void put(wire_writer& out, std::vector<T, A> const& all) {
        if constexpr (k_is_bytes) {
            out.put(std::uint64_t{all.size()});
            out.put_values(all.data(), all.size());
        } else if constexpr (std::is_same_v<T, bool>) {
            out.put(std::uint64_t{all.size()});
            for (bool const one : all) out.put(one);
        } else {
            detail::put_elements(out, all);
        }
    }
    static std::vector<T, A> get(wire_reader& in) {
        if constexpr (k_is_bytes)
            return get_bytes(in);
        else
            return detail::get_elements<T, std::vector<T, A>>(in);
    }

private:
    static std::vector<T, A> get_bytes(wire_reader& in) {
        std::vector<T, A> all;
        std::size_t const count = in.get_count(sizeof(T));
        std::byte const* const bytes = in.get_bytes(count * sizeof(T));
        if constexpr (std::is_same_v<T, std::byte> || std::is_same_v<T, unsigned char> ||
                      std::is_same_v<T, char>) {
            all.assign(reinterpret_cast<T const*>(bytes),
                       reinterpret_cast<T const*>(bytes) + count);
        } else if constexpr (std::is_default_constructible_v<T> &&
                             std::is_trivially_copy_assignable_v<T>) {
            all.resize(count);
            if (count != 0) std::memcpy(all.data(), bytes, count * sizeof(T));
        } else {
            wire_reader elements({bytes, count * sizeof(T)});
            for (std::size_t k = 0; k < count; ++k) all.push_back(elements.get<T>());
        }
        return all;
    }
};

template <template <class, class> class C, class T, class A>
requires(detail::is_sequence<C<T, A>, T> && !detail::is_string<C<T, A>>) struct wire<C<T, A>> {
    using library = void;

    static void put(wire_writer& out, C<T, A> const& all) { detail::put_elements(out, all); }
    static C<T, A> get(wire_reader& in) { return detail::get_elements<T, C<T, A>>(in); }
};

template <class C, class R, class A> struct wire<std::basic_string<C, R, A>> {
    using library = void;

    static void put(wire_writer& out, std::basic_string<C, R, A> const& text) {
        out.put(std::uint64_t{text.size()});
        out.put_bytes(text.data(), text.size() * sizeof(C));
    }
    static std::basic_string<C, R, A> get(wire_reader& in) {
        std::basic_string<C, R, A> text(in.get_count(sizeof(C)), C{});
        if (!text.empty())
            std::memcpy(text.data(), in.get_bytes(text.size() * sizeof(C)),
                        text.size() * sizeof(C));
        return text;
    }
};

template <class T, std::size_t N>
requires(!detail::copied_alone<T> && N != 0) struct wire<std::array<T, N>> {
    using library = void;

    static void put(wire_writer& out, std::array<T, N> const& all) {
        for (T const& one : all) out.put(one);
    }
    static std::array<T, N> get(wire_reader& in) { return get(in, std::make_index_sequence<N>{}); }

private:
    template <std::size_t... K>
    static std::array<T, N> get(wire_reader& in, std::index_sequence<K...> /*all*/) {
        return {((void)K, in.get<T>())...}; // braces: one after the other
    }
};

template <class A, class B> struct wire<std::pair<A, B>> {
    using library = void;

    static void put(wire_writer& out, std::pair<A, B> const& both) {
        out.put(both.first);
        out.put(both.second);
    }
    static std::pair<A, B> get(wire_reader& in) {
        return std::pair<A, B>{in.get<A>(), in.get<B>()};
    }
};

template <class... T> struct wire<std::tuple<T...>> {
    using library = void;

    static void put([[maybe_unused]] wire_writer& out, std::tuple<T...> const& all) {
        std::apply([&](T const&... one) { (out.put(one), ...); }, all);
    }
    static std::tuple<T...> get([[maybe_unused]] wire_reader& in) {
        return std::tuple<T...>{in.get<T>()...};
    }
};

template <class T> struct wire<std::optional<T>> {
    using library = void;

    static void put(wire_writer& out, std::optional<T> const& value) {
        out.put(value.has_value());
        if (value) out.put(*value);
    }
    static std::optional<T> get(wire_reader& in) {
        return in.get<bool>() ? std::optional<T>(in.get<T>()) : std::nullopt;
    }
};

template <template <class...> class V, class... T>
requires(detail::is_variant<V<T...>> && !detail::are_bytes<T...>) struct wire<V<T...>> {
    using library = void;

    static void put(wire_writer& out, V<T...> const& value) {
        put(out, value, std::index_sequence_for<T...>{});
    }
    static V<T...> get(wire_reader& in) { return get(in, std::index_sequence_for<T...>{}); }

private:
    static_assert(sizeof...(T) < 256);

    template <std::size_t K> static void put_kth(wire_writer& out, V<T...> const& value) {
        using std::get;
        out.put(get<K>(value));
    }
    template <std::size_t K> static V<T...> get_kth(wire_reader& in) {
        return V<T...>(std::in_place_index<K>, in.get<std::tuple_element_t<K, std::tuple<T...>>>());
    }
    template <std::size_t... K>
    static void put(wire_writer& out, V<T...> const& value, std::index_sequence<K...> /*all*/) {
        constexpr std::array<void (*)(wire_writer&, V<T...> const&), sizeof...(T)> ways{
            &put_kth<K>...};
        if (value.valueless_by_exception()) detail::refuse_valueless();
        out.put(static_cast<std::uint8_t>(value.index()));
        ways[value.index()](out, value);
    }
    template <std::size_t... K>
    static V<T...> get(wire_reader& in, std::index_sequence<K...> /*all*/) {
        constexpr std::array<V<T...> (*)(wire_reader&), sizeof...(T)> ways{&get_kth<K>...};
        std::size_t const index = in.get<std::uint8_t>();
        if (index >= ways.size())
            in.refuse("tulle: a message has an alternative of a variant that it has not");
        return ways[index](in);
    }
};

// Sets and maps, sorted or hashed, of one or of many with a key.
template <detail::sorts_by_key C> struct wire<C> {
    using library = void;

    static void put(wire_writer& out, C const& all) {
        out.put(std::uint64_t{all.size()});
        for (auto const& one : all) detail::put_keyed<C>(out, one);
    }
    static C get(wire_reader& in) {
        C all;
        for (std::size_t left = in.get_count(1); left != 0; --left) detail::get_keyed(in, all);
        return all;
    }
};

} // namespace tulle
