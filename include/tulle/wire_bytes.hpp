// SPDX-License-Identifier: Apache-2.0
// What <tulle/wire.hpp> consists of, but for the ways of single types: wire_writer and wire_reader,
// which programs meet in specialisations of wire; wire itself; and view.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/payload.hpp>
#include <tulle/detail/wire_fields.hpp>
#include <tulle/detail/wire_graph.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
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

// Specialised for a base class, it names the classes of the objects that pointers to it lead to;
// kinds<K...> is its base class.
template <class... K> struct kinds;
template <class Base> struct kinds_of;

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

    // Appends these bytes as they are.
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
    // Errors: those of writing (<tulle/wire.hpp>); they leave the bytes of a part.
    template <class T> void put(T const& value);
    // Values that share objects with each other; to be read by get_all.
    template <class... T> void put_all(T const&... values);
    // The next byte is aligned so; at most k_alignment.
    void align(std::size_t alignment) {
        constexpr std::array<std::byte, k_alignment> k_zeros{};
        put_bytes(k_zeros.data(), -m_size % alignment);
    }

    // What has been written.
    [[nodiscard]] std::byte const* data() const noexcept {
        return m_far == nullptr ? m_near.data() : m_far.get();
    }
    // In bytes.
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    // For detail/wire_pointers.hpp: of the value that is being written; null: of none.
    [[nodiscard]] detail::graph_writer* graph() noexcept { return m_graph; }
    // For detail/wire_pointers.hpp: an object that pointers of the same value may lead to.
    template <class T> void put_in_place(T const& object);

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

    template <class T> void put_part(T const& value);

    std::size_t m_size = 0;
    detail::graph_writer* m_graph = nullptr;
    alignas(k_alignment) std::array<std::byte, k_near> m_near;
    int m_reader = detail::k_no_reader;
    std::size_t m_far_size = 0;
    detail::payload_bytes m_far; // all of it, once it does not fit
};

// Bytes that have come. Errors of all that read: those of <tulle/wire.hpp>.
class wire_reader {
public:
    // Of what a writer has written; the bytes must outlive it.
    explicit wire_reader(std::span<std::byte const> bytes) noexcept
        : m_size(bytes.size()), m_bytes(bytes) {}

    // The next bytes, where they lie.
    [[nodiscard]] std::byte const* get_bytes(std::size_t count) {
        if (count > m_bytes.size()) refuse("tulle: a message is shorter than what is read from it");
        std::byte const* const found = m_bytes.data();
        m_bytes = m_bytes.subspan(count);
        return found;
    }
    // As wire_writer::align().
    void align(std::size_t alignment) {
        static_cast<void>(get_bytes(-(m_size - m_bytes.size()) % alignment));
    }
    // The next value, which put() has written.
    template <class T> [[nodiscard]] T get();
    // What put_all has written.
    template <class... T> [[nodiscard]] std::tuple<T...> get_all();
    // For specialisations of wire: throws wire_error. Objects of the value that is being read are
    // empty then.
    [[noreturn]] TULLE_API TULLE_COLD void refuse(char const* why);
    // Likewise: the values are nested too deep.
    [[noreturn]] TULLE_API TULLE_COLD void refuse_depth();
    // A count of elements that take at least `least` bytes each, and one if that is 0: one that
    // cannot be true is refused before memory is asked for.
    [[nodiscard]] std::size_t get_count(std::size_t least) {
        auto const count = get<std::uint64_t>();
        if (count > m_bytes.size() / (least != 0 ? least : 1))
            refuse("tulle: a message names more elements than it has");
        return count;
    }
    // Bytes that have not been read.
    [[nodiscard]] std::size_t left() const noexcept { return m_bytes.size(); }

    // For detail/wire_pointers.hpp: of the value that is being read; null: of none.
    [[nodiscard]] detail::graph_reader* graph() noexcept { return m_graph; }
    // For detail/wire_pointers.hpp: as put_in_place() has written it.
    template <class T> void get_in_place(T& object);

private:
    template <class T> [[nodiscard]] T get_part();

    std::size_t m_size; // of all
    std::span<std::byte const> m_bytes;
    detail::graph_reader* m_graph = nullptr;
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
    // Of so many elements that lie side by side.
    view(T const* first, std::size_t count) noexcept : m_first(first), m_count(count) {}
    // Of what lies in one piece: a vector, an array, a span.
    template <class Range>
    requires requires(Range const& all) {
        { std::data(all) } -> std::convertible_to<T const*>;
    } &&(!std::is_same_v<Range, view>)explicit view(Range const& all) noexcept
        : m_first(std::data(all)), m_count(std::size(all)) {}

    // The first element; the others follow it.
    [[nodiscard]] T const* data() const noexcept { return m_first; }
    // How many elements it has.
    [[nodiscard]] std::size_t size() const noexcept { return m_count; }
    // Whether it has none.
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

template <class T> consteval bool holds_address();
// Types whose parts are no members that one can see.
template <class T> inline constexpr bool parts_hold_address = false;
template <class T> inline constexpr bool parts_hold_address<std::optional<T>> = holds_address<T>();
template <class A, class B>
inline constexpr bool
    parts_hold_address<std::pair<A, B>> = holds_address<A>() || holds_address<B>();
template <class... T>
inline constexpr bool parts_hold_address<std::tuple<T...>> = (holds_address<T>() || ...);

template <class T, std::size_t N>
inline constexpr bool parts_hold_address<std::array<T, N>> = holds_address<T>();

struct find_address {
    template <class... F, class... Value> auto operator()(Value const&... /*fields*/) const {
        return std::bool_constant<(holds_address<F>() || ...)>{};
    }
};
// A pointer, a reference, or something with one in it, as far as its members can be seen.
template <class T> consteval bool holds_address() {
    using one = std::remove_cv_t<std::remove_all_extents_t<T>>;
    if constexpr (is_address<one> || std::is_member_function_pointer_v<one> ||
                  parts_hold_address<one>)
        return true;
    else if constexpr (field_count<one> != 0)
        return decltype(visit_fields(std::declval<one&>(), find_address{}))::value;
    else
        return false;
}

// Locks can be neither copied nor moved, but gcc has them trivially copyable.
template <class T>
inline constexpr bool is_bytes =
    std::is_trivially_copyable_v<T> && !is_address<T> && !std::is_member_pointer_v<T> &&
    !std::is_empty_v<T> &&
    (std::is_copy_constructible_v<T> || std::is_move_constructible_v<T> || std::is_array_v<T>);
template <class T>
inline constexpr bool is_nothing =
    std::is_empty_v<T>&& std::is_trivially_copyable_v<T>&& std::is_default_constructible_v<T>;

struct put_archive;
struct get_archive;
template <class T>
concept names_its_parts = requires(T& value, put_archive& put, get_archive& get) {
    value.serialize(put);
    value.serialize(get);
};
// By its members.
template <class T>
inline constexpr bool is_by_fields =
    std::is_aggregate_v<T> && !is_bytes<T> && !is_nothing<T> && field_count<T> != 0;

// The general wire<T> copies its bytes, so those of many can be copied at once.
template <class T>
concept copied_alone = is_bytes<T> && !names_its_parts<T> && requires {
    typename wire<T>::general;
};
template <class T>
concept is_of_library = requires {
    typename wire<T>::library;
};
template <class T>
concept is_general = requires {
    typename wire<T>::general;
};

template <class T> inline constexpr bool is_view = false;
template <class T> inline constexpr bool is_view<view<T>> = true;

// Whether it is known that there are no pointers in it, nor code of the program.
template <class T>
inline constexpr bool is_flat = copied_alone<T> ||
                                (is_nothing<T> && is_general<T> && !names_its_parts<T>);
template <class T> inline constexpr bool is_flat<view<T>> = true;
template <class C, class R, class A>
inline constexpr bool is_flat<std::basic_string<C, R, A>> = true;
template <class T, class A> inline constexpr bool is_flat<std::vector<T, A>> = is_flat<T>;
template <class T> inline constexpr bool is_flat<std::optional<T>> = is_flat<T>;
template <class T, std::size_t N>
inline constexpr bool is_flat<std::array<T, N>> = N == 0 || is_flat<T>;
template <class A, class B>
inline constexpr bool is_flat<std::pair<A, B>> = is_flat<A>&& is_flat<B>;
template <class... T> inline constexpr bool is_flat<std::tuple<T...>> = (is_flat<T> && ...);

// Whether objects that it points to stay when it is moved. What copies itself instead may throw.
template <class T>
inline constexpr bool is_made_by_moves =
    std::is_nothrow_move_constructible_v<T> || !std::is_move_constructible_v<T>;
template <class T>
inline constexpr bool is_assigned_by_moves =
    std::is_nothrow_move_assignable_v<T> || !std::is_move_assignable_v<T>;
template <class T>
concept keeps_pointees = (is_of_library<T> ||
                          is_general<T>)&&is_made_by_moves<T>&& is_assigned_by_moves<T>;

struct can_assign_all {
    template <class... F, class... Value> auto operator()(Value const&... /*fields*/) const {
        return std::bool_constant<(std::is_move_assignable_v<F> && ...)>{};
    }
};
template <class T> consteval bool has_assignable_fields() {
    if constexpr (is_by_fields<T>)
        return decltype(visit_fields(std::declval<T&>(), can_assign_all{}))::value;
    else
        return false;
}
template <class T>
inline constexpr bool fills_in_place = is_general<T> &&
                                       (names_its_parts<T> || has_assignable_fields<T>());

// Bytes that a value takes at least, as far as its type tells.
template <class T>
inline constexpr std::size_t least_bytes = copied_alone<T>    ? sizeof(T)
                                           : is_of_library<T> ? 1
                                                              : 0;
template <class A, class B>
inline constexpr std::size_t least_bytes<std::pair<A, B>> = least_bytes<A> + least_bytes<B>;
template <class... T>
inline constexpr std::size_t least_bytes<std::tuple<T...>> = (least_bytes<T> + ... + 0);
template <class T, std::size_t N>
inline constexpr std::size_t least_bytes<std::array<T, N>> = least_bytes<T>* N;

// --- what does not travel ------------------------------------------------------------------------

template <class T>
concept is_lock = requires(T& value) {
    value.lock();
    value.unlock();
};
template <class T> inline constexpr bool is_function_wrapper = false;
template <template <class> class F, class R, class... A>
inline constexpr bool is_function_wrapper<F<R(A...)>> = true;
template <class T>
inline constexpr bool has_a_way =
    is_bytes<T> || is_nothing<T> || names_its_parts<T> || is_by_fields<T>;
template <class T>
inline constexpr bool has_a_reason =
    is_address<T> || is_lock<T> || is_function_wrapper<T> || std::is_array_v<T>;

// --- classes that name their parts, and aggregates -----------------------------------------------

[[nodiscard]] inline bool lies_in(void const* object, std::size_t size, void const* part) noexcept {
    return reinterpret_cast<std::uintptr_t>(part) - reinterpret_cast<std::uintptr_t>(object) < size;
}
// Parts that lie elsewhere, such as variables of serialize(), may be gone before objects follow
// that they point to.
struct put_archive {
    wire_writer& out;
    void const* object;
    std::size_t size;
    template <class... T> void operator()(T const&... parts) { (put_one(parts), ...); }
    template <class T> void put_one(T const& part) {
        if constexpr (!is_flat<T>) {
            if (!lies_in(object, size, std::addressof(part))) {
                outside_of_queue const now(out.graph());
                return out.put(part);
            }
        }
        out.put(part);
    }
};
struct get_archive {
    wire_reader& in;
    void const* object;
    std::size_t size;
    template <class... T> void operator()(T&... parts) { (get_one(parts), ...); }
    template <class T> void get_one(T& part) {
        if constexpr (!is_flat<T>) {
            if (!lies_in(object, size, std::addressof(part))) {
                outside_of_queue const now(in.graph());
                part = in.get<T>();
                return;
            }
        }
        part = in.get<T>();
    }
};

template <class T> void put_named_parts(wire_writer& out, T const& value) {
    put_archive archive{out, std::addressof(value), sizeof(T)};
    // One member for both ways, as in cereal.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    const_cast<T&>(value).serialize(archive);
}
template <class T> void get_named_parts(wire_reader& in, T& value) {
    forgotten_objects const from_now_on(in.graph());
    get_archive archive{in, std::addressof(value), sizeof(T)};
    value.serialize(archive);
}

struct put_all_fields {
    wire_writer& out;
    template <class... F, class... Value> void operator()(Value const&... fields) const {
        static_assert((!std::is_reference_v<F> && ...),
                      "a member of this aggregate is a reference, which means nothing at another "
                      "place: send what it refers to");
        (out.put(fields), ...);
    }
};
template <class... F> struct field_types {};
struct list_field_types {
    template <class... F, class... Value> auto operator()(Value const&... /*fields*/) const {
        return field_types<std::remove_cvref_t<F>...>{};
    }
};
template <class T, class... F> T make_of_fields(wire_reader& in, field_types<F...> const& /*all*/) {
    return T{in.get<F>()...}; // braces: one after the other
}
// Of an object that is not constant.
struct get_all_fields {
    wire_reader& in;
    template <class... F, class... Value> void operator()(Value const&... fields) const {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
        ((const_cast<Value&>(fields) = in.get<Value>()), ...);
    }
};

} // namespace detail

// How a T travels: put(writer, value), and get(reader), which returns a T. Specialisations write at
// least one byte.
template <class T> struct wire {
    using general = void; // specialisations have none

    static_assert(!detail::is_address<T>,
                  "a pointer means nothing at another place: send what it points to (text as a "
                  "std::string), or a tulle::global_ref");
    static_assert(detail::has_a_way<T> || !detail::is_lock<T>,
                  "a lock does not travel: use one of another place by <tulle/at_home.hpp>, or a "
                  "tulle::global_mutex");
    static_assert(
        detail::has_a_way<T> || !detail::is_function_wrapper<T>,
        "a std::function does not travel: send a lambda without captures, with arguments");
    static_assert(detail::has_a_way<T> || !std::is_array_v<T>,
                  "a C array of these does not travel: have a std::array");
    static_assert(!detail::is_bytes<T> || detail::names_its_parts<T> || !detail::holds_address<T>(),
                  "a member of this aggregate is a pointer or a reference, which means nothing at "
                  "another place: have a std::unique_ptr, or give the class a member "
                  "serialize(archive)");
    static_assert(detail::has_a_way<T> || detail::has_a_reason<T>,
                  "this type does not travel: specialise tulle::wire<T>, or give it a member "
                  "serialize(archive); an aggregate travels by its members if these travel and it "
                  "has at most 32, no base class, union or C array");

    // Writes a value.
    static void put(wire_writer& out, T const& value) {
        if constexpr (detail::names_its_parts<T>) {
            if (out.graph() == nullptr) return out.put(value);
            detail::put_named_parts(out, value);
        } else if constexpr (detail::is_bytes<T>) {
            out.put_values(std::addressof(value), 1);
        } else if constexpr (detail::is_by_fields<T>) {
            detail::visit_fields(value, detail::put_all_fields{out});
        }
    }
    // Reads what put() has written.
    static T get(wire_reader& in) {
        if constexpr (detail::names_its_parts<T>) {
            static_assert(std::is_default_constructible_v<T>,
                          "a class whose serialize(archive) names its parts is made by its default "
                          "constructor first: give it one, or specialise tulle::wire<T>");
            if (in.graph() == nullptr) return in.get<T>();
            T value = T();
            detail::get_named_parts(in, value);
            return value;
        } else if constexpr (std::is_same_v<T, bool>) {
            return *in.get_bytes(1) != std::byte{0};
        } else if constexpr (detail::is_bytes<T>) {
            std::array<std::byte, sizeof(T)> bytes;
            std::memcpy(bytes.data(), in.get_bytes(sizeof(T)), sizeof(T));
            return std::bit_cast<T>(bytes);
        } else if constexpr (detail::is_by_fields<T>) {
            using types =
                decltype(detail::visit_fields(std::declval<T&>(), detail::list_field_types{}));
            return detail::make_of_fields<T>(in, types{});
        } else {
            return T{};
        }
    }
};

// A view travels as its elements.
template <class T> struct wire<view<T>> {
    using library = void;

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

// --- writer and reader ---------------------------------------------------------------------------

namespace detail {

template <class T>
TULLE_NOINLINE void put_whole(wire_writer& out, graph_writer*& place, T const& value) {
    graph_writer graph;
    attached_graph const whole(place, graph);
    wire<T>::put(out, value);
}
template <class T> TULLE_NOINLINE T get_whole(wire_reader& in, graph_reader*& place) {
    graph_reader graph;
    attached_graph const whole(place, graph);
    forgotten_objects const dropped(keeps_pointees<T> ? nullptr : place);
    return wire<T>::get(in);
}

} // namespace detail

template <class T> TULLE_INLINE void wire_writer::put(T const& value) {
    if constexpr (detail::is_flat<T>)
        wire<T>::put(*this, value);
    else if (m_graph == nullptr)
        detail::put_whole(*this, m_graph, value);
    else
        put_part(value);
}
template <class T> inline void wire_writer::put_part(T const& value) {
    detail::level const inner(m_graph->depth);
    if (!inner.has_room()) detail::refuse_depth();
    detail::outside_of_queue const now(detail::keeps_pointees<T> ? nullptr : m_graph);
    wire<T>::put(*this, value);
}
template <class... T> TULLE_INLINE void wire_writer::put_all(T const&... values) {
    if constexpr (!(detail::is_flat<T> && ...)) {
        if (m_graph == nullptr) {
            detail::graph_writer graph;
            detail::attached_graph const whole(m_graph, graph);
            return (put(values), ...);
        }
    }
    (put(values), ...);
}
template <class T> inline void wire_writer::put_in_place(T const& object) {
    if constexpr (detail::fills_in_place<T>) {
        detail::level const inner(m_graph->depth);
        if (!inner.has_room()) detail::refuse_depth();
        wire<T>::put(*this, object);
    } else {
        put(object);
    }
}

template <class T> TULLE_INLINE T wire_reader::get() {
    if constexpr (detail::is_flat<T>)
        return wire<T>::get(*this);
    else
        return m_graph == nullptr ? detail::get_whole<T>(*this, m_graph) : get_part<T>();
}
template <class T> inline T wire_reader::get_part() {
    detail::level const inner(m_graph->depth);
    if (!inner.has_room()) refuse_depth();
    detail::outside_of_queue const now(detail::keeps_pointees<T> ? nullptr : m_graph);
    detail::forgotten_objects const dropped(detail::keeps_pointees<T> ? nullptr : m_graph);
    return wire<T>::get(*this);
}
template <class... T> TULLE_INLINE std::tuple<T...> wire_reader::get_all() {
    if constexpr (!(detail::is_flat<T> && ...)) {
        if (m_graph == nullptr) {
            detail::graph_reader graph;
            detail::attached_graph const whole(m_graph, graph);
            return std::tuple<T...>{get<T>()...};
        }
    }
    return std::tuple<T...>{get<T>()...};
}
template <class T> inline void wire_reader::get_in_place(T& object) {
    if constexpr (detail::fills_in_place<T>) {
        detail::level const inner(m_graph->depth);
        if (!inner.has_room()) refuse_depth();
        if constexpr (detail::names_its_parts<T>)
            detail::get_named_parts(*this, object);
        else
            detail::visit_fields(object, detail::get_all_fields{*this});
    } else {
        object = get<T>();
    }
}

} // namespace tulle
