// SPDX-License-Identifier: Apache-2.0
// How arguments and results travel between places. What can be copied byte by byte does; wire<T>
// exists for strings, containers, pairs, tuples and optionals of whatever can travel; for other
// types specialise it, or give them a member that names its parts to an archive, as cereal has it:
//   template <class Archive> void serialize(Archive& archive) { archive(name, weight); }
// Pointers and references do not travel: they mean nothing elsewhere (global_ref does,
// <tulle/place.hpp>). A view travels as what it shows.
// All places run the same program, so nothing is said of types or byte order.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/payload.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tulle {

// What was read does not fit what was written.
class wire_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class T> struct wire;

// Bytes to be sent. The first few need no heap; many are written where the reader finds them, if it
// is known and on the same host. Errors of all that write: std::bad_alloc.
class wire_writer {
public:
    static constexpr std::size_t k_alignment = 16; // of the first byte, also where it is read

    wire_writer() noexcept = default;
    // A place; the bytes are for nobody else.
    explicit wire_writer(int reader) noexcept : m_reader(reader) {}
    wire_writer(wire_writer const&) = delete;
    wire_writer& operator=(wire_writer const&) = delete;

    void put_bytes(void const* bytes, std::size_t count) {
        if (count == 0) return;
        std::memcpy(room_for(count), bytes, count);
        m_size += count;
    }
    // Objects that are copied byte by byte. What lies between their members may be anything: zeros
    // are sent, where the compiler can tell.
    template <class T> void put_values(T const* values, std::size_t count) {
#if __has_builtin(__builtin_clear_padding)
        if constexpr (!std::has_unique_object_representations_v<T> &&
                      !std::is_floating_point_v<T>) {
            if (count == 0) return;
            std::byte* to = room_for(count * sizeof(T));
            for (std::size_t k = 0; k < count; ++k, to += sizeof(T))
                copy_without_padding(to, values[k]);
            m_size += count * sizeof(T);
            return;
        }
#endif
        put_bytes(values, count * sizeof(T));
    }
    template <class T> void put(T const& value) { wire<T>::put(*this, value); }
    // The next byte is aligned so; at most k_alignment.
    void align(std::size_t alignment) {
        constexpr std::array<std::byte, k_alignment> k_zeros{};
        put_bytes(k_zeros.data(), -m_size % alignment);
    }

    [[nodiscard]] std::byte const* data() const noexcept {
        return m_far == nullptr ? m_near.data() : m_far.get();
    }
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    // What holds the bytes; null: they are few. Once it has been taken, nothing more can be
    // written.
    [[nodiscard]] detail::payload_bytes& storage() noexcept { return m_far; }

private:
    static constexpr std::size_t k_near = 120;

#if __has_builtin(__builtin_clear_padding)
    template <class T> static void copy_without_padding(std::byte* to, T const& value) noexcept {
        alignas(T) std::byte copy[sizeof(T)];
        std::memcpy(copy, std::addressof(value), sizeof copy);
        __builtin_clear_padding(reinterpret_cast<T*>(copy));
        std::memcpy(to, copy, sizeof copy);
    }
#endif
    [[nodiscard]] std::byte* room_for(std::size_t count) {
        if (m_far == nullptr && count <= k_near && m_size <= k_near - count)
            return m_near.data() + m_size;
        return far_room_for(count);
    }
    [[nodiscard]] TULLE_NOINLINE std::byte* far_room_for(std::size_t count) {
        if (m_size + count > m_far_size) {
            std::size_t const larger = std::max(m_size + count, 2 * m_far_size);
            detail::payload_bytes bytes = detail::room_for(m_reader, larger);
            std::memcpy(bytes.get(), data(), m_size);
            m_far = std::move(bytes);
            m_far_size = larger;
        }
        return m_far.get() + m_size;
    }

    std::size_t m_size = 0;
    alignas(k_alignment) std::array<std::byte, k_near> m_near;
    int m_reader = detail::k_no_reader;
    std::size_t m_far_size = 0;
    detail::payload_bytes m_far; // all of it, once it does not fit
};

// Bytes that have come. Errors of all that read: wire_error: there are not so many.
class wire_reader {
public:
    explicit wire_reader(std::span<std::byte const> bytes) noexcept
        : m_size(bytes.size()), m_bytes(bytes) {}

    [[nodiscard]] std::byte const* get_bytes(std::size_t count) {
        if (count > m_bytes.size())
            TULLE_THROW(wire_error("tulle: a message is shorter than what is read from it"));
        std::byte const* const found = m_bytes.data();
        m_bytes = m_bytes.subspan(count);
        return found;
    }
    // As wire_writer::align().
    void align(std::size_t alignment) {
        static_cast<void>(get_bytes(-(m_size - m_bytes.size()) % alignment));
    }
    template <class T> [[nodiscard]] T get() { return wire<T>::get(*this); }
    // A count of elements that take at least `least` bytes each: one that cannot be true is refused
    // before memory is asked for.
    [[nodiscard]] std::size_t get_count(std::size_t least) {
        auto const count = get<std::uint64_t>();
        if (least != 0 && count > m_bytes.size() / least)
            TULLE_THROW(wire_error("tulle: a message names more elements than it has"));
        return count;
    }
    [[nodiscard]] std::size_t left() const noexcept { return m_bytes.size(); }

private:
    std::size_t m_size; // of all
    std::span<std::byte const> m_bytes;
};

// A sequence that travels without being copied into a container of the receiver's: there it shows
// the message itself, until the callable that has got it as an argument returns. At the sender the
// elements must live until the call or the activity has ended. Source: view of UPC++ 1.0.
//   at(there, [](tulle::view<double> got) { return norm(got); }, tulle::view(numbers));
// An argument only, or a part of one: not a result.
template <class T> class view {
    static_assert(std::is_trivially_copyable_v<T>,
                  "a view shows bytes that have come: its elements must be copyable byte by byte");

public:
    using value_type = T;

    view() noexcept = default;
    view(T const* first, std::size_t count) noexcept : m_first(first), m_count(count) {}
    // Of what lies in one piece: a vector, an array, a span.
    template <class Range>
    requires requires(Range const& all) {
        { std::data(all) } -> std::convertible_to<T const*>;
    } &&(!std::is_same_v<Range, view>)explicit view(Range const& all) noexcept
        : m_first(std::data(all)), m_count(std::size(all)) {}

    [[nodiscard]] T const* data() const noexcept { return m_first; }
    [[nodiscard]] std::size_t size() const noexcept { return m_count; }
    [[nodiscard]] bool empty() const noexcept { return m_count == 0; }
    [[nodiscard]] T const* begin() const noexcept { return m_first; }
    [[nodiscard]] T const* end() const noexcept { return m_first + m_count; }
    [[nodiscard]] T const& operator[](std::size_t k) const noexcept { return m_first[k]; }

private:
    T const* m_first = nullptr;
    std::size_t m_count = 0;
};
template <class Range>
view(Range const&) -> view<std::remove_cvref_t<decltype(*std::data(std::declval<Range const&>()))>>;

namespace detail {

// Types that are, or hold, the address of something else.
template <class T>
inline constexpr bool is_address = std::is_pointer_v<T> || std::is_reference_v<T>;
template <class T> inline constexpr bool is_address<std::reference_wrapper<T>> = true;
template <class T, std::size_t N> inline constexpr bool is_address<std::span<T, N>> = true;
template <class C, class R> inline constexpr bool is_address<std::basic_string_view<C, R>> = true;

template <class T>
inline constexpr bool is_bytes = std::is_trivially_copyable_v<T> && !is_address<T> &&
                                 !std::is_member_pointer_v<T> && !std::is_empty_v<T>;
template <class T>
inline constexpr bool is_nothing =
    std::is_empty_v<T>&& std::is_trivially_copyable_v<T>&& std::is_default_constructible_v<T>;

struct put_archive {
    wire_writer& out;
    template <class... T> void operator()(T const&... parts) { (out.put(parts), ...); }
};
struct get_archive {
    wire_reader& in;
    template <class... T> void operator()(T&... parts) { ((parts = in.get<T>()), ...); }
};
template <class T>
concept names_its_parts = requires(T& value, put_archive& put, get_archive& get) {
    value.serialize(put);
    value.serialize(get);
};

// The general wire<T> copies its bytes, so those of many can be copied at once.
template <class T>
concept copied_alone = is_bytes<T> && !names_its_parts<T> && requires {
    typename wire<T>::general;
};

template <class T> inline constexpr bool is_view = false;
template <class T> inline constexpr bool is_view<view<T>> = true;

// Bytes that a value takes at least, as far as its type tells.
template <class T> inline constexpr std::size_t least_bytes = is_nothing<T> ? 0 : 1;
template <class A, class B>
inline constexpr std::size_t least_bytes<std::pair<A, B>> = least_bytes<A> + least_bytes<B>;
template <class... T>
inline constexpr std::size_t least_bytes<std::tuple<T...>> = (least_bytes<T> + ... + 0);
template <class T, std::size_t N>
inline constexpr std::size_t least_bytes<std::array<T, N>> = least_bytes<T>* N;

template <class C> void put_elements(wire_writer& out, C const& all) {
    out.put(std::uint64_t{all.size()});
    for (auto const& element : all) out.put(element);
}

// std::set, std::unordered_multimap and so on by what they have in common, so that only code that
// sends them includes their headers.
template <class C>
concept sorts_by_key = requires(C& all, typename C::key_type const& key,
                                typename C::value_type&& one) {
    typename C::allocator_type;
    typename C::node_type;
    all.insert(static_cast<typename C::value_type&&>(one));
    all.equal_range(key);
};
template <class C> struct element_of { using type = typename C::value_type; };
template <class C>
requires requires { typename C::mapped_type; }
struct element_of<C> {
    // The key can be moved into its place.
    using type = std::pair<typename C::key_type, typename C::mapped_type>;
};

} // namespace detail

// How a T travels: put(writer, value), and get(reader), which returns a T.
template <class T> struct wire {
    using general = void; // specialisations have none

    static_assert(
        !detail::is_address<T>,
        "a pointer means nothing at another place: send what it points to, or a tulle::global_ref");
    static_assert(detail::is_bytes<T> || detail::is_nothing<T> || detail::names_its_parts<T>,
                  "this type does not travel: specialise tulle::wire<T>, or give it a member "
                  "serialize(archive)");

    static void put(wire_writer& out, T const& value) {
        if constexpr (detail::names_its_parts<T>) {
            detail::put_archive archive{out};
            // One member for both ways, as in cereal.
            // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
            const_cast<T&>(value).serialize(archive);
        } else if constexpr (detail::is_bytes<T>) {
            out.put_values(std::addressof(value), 1);
        }
    }
    static T get(wire_reader& in) {
        if constexpr (detail::names_its_parts<T>) {
            T value{};
            detail::get_archive archive{in};
            value.serialize(archive);
            return value;
        } else if constexpr (detail::is_bytes<T>) {
            std::array<std::byte, sizeof(T)> bytes;
            std::memcpy(bytes.data(), in.get_bytes(sizeof(T)), sizeof(T));
            return std::bit_cast<T>(bytes);
        } else {
            return T{};
        }
    }
};

template <class T> struct wire<view<T>> {
    static_assert(detail::copied_alone<T>,
                  "elements of a view travel as bytes: send a container of them instead");
    static_assert(alignof(T) <= wire_writer::k_alignment,
                  "a message is not aligned for these elements: send a container of them instead");

    static void put(wire_writer& out, view<T> const& all) {
        out.put(std::uint64_t{all.size()});
        out.align(alignof(T));
        out.put_values(all.data(), all.size());
    }
    static view<T> get(wire_reader& in) {
        std::size_t const count = in.get_count(sizeof(T));
        in.align(alignof(T));
        std::byte const* const bytes = in.get_bytes(count * sizeof(T));
        return {reinterpret_cast<T const*>(bytes), count};
    }
};

template <class T, class A> struct wire<std::vector<T, A>> {
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
        std::vector<T, A> all;
        if constexpr (k_is_bytes) {
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
        } else {
            std::size_t const count = in.get_count(detail::least_bytes<T>);
            for (std::size_t k = 0; k < count; ++k) all.push_back(in.get<T>());
        }
        return all;
    }
};

template <class C, class R, class A> struct wire<std::basic_string<C, R, A>> {
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
    static void put(wire_writer& out, std::pair<A, B> const& both) {
        out.put(both.first);
        out.put(both.second);
    }
    static std::pair<A, B> get(wire_reader& in) {
        return std::pair<A, B>{in.get<A>(), in.get<B>()};
    }
};

template <class... T> struct wire<std::tuple<T...>> {
    static void put([[maybe_unused]] wire_writer& out, std::tuple<T...> const& all) {
        std::apply([&](T const&... one) { (out.put(one), ...); }, all);
    }
    static std::tuple<T...> get([[maybe_unused]] wire_reader& in) {
        return std::tuple<T...>{in.get<T>()...};
    }
};

template <class T> struct wire<std::optional<T>> {
    static void put(wire_writer& out, std::optional<T> const& value) {
        out.put(value.has_value());
        if (value) out.put(*value);
    }
    static std::optional<T> get(wire_reader& in) {
        return in.get<bool>() ? std::optional<T>(in.get<T>()) : std::nullopt;
    }
};

// Sets and maps, sorted or hashed, of one or of many with a key.
template <detail::sorts_by_key C> struct wire<C> {
    static void put(wire_writer& out, C const& all) { detail::put_elements(out, all); }
    static C get(wire_reader& in) {
        using element = typename detail::element_of<C>::type;
        C all;
        for (std::size_t left = in.get_count(detail::least_bytes<element>); left != 0; --left)
            all.insert(in.get<element>());
        return all;
    }
};

} // namespace tulle
