// SPDX-License-Identifier: Apache-2.0
// How pointers that own, share or watch travel; included by <tulle/wire.hpp>.
#pragma once

#include <tulle/detail/wire_graph.hpp>
#include <tulle/wire_bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tulle {

template <class... T> struct kinds {};

namespace detail {

// --- the classes of objects behind a pointer -----------------------------------------------------

template <class T>
concept has_kinds = requires {
    sizeof(kinds_of<T>);
};
template <class T>
inline constexpr bool is_of_one_kind = !std::is_polymorphic_v<T> || std::is_final_v<T>;

// The class of an object is what typeid says.
#if defined(__GXX_RTTI)
template <class T> inline constexpr bool k_tells_class = true;
#else
template <class T> inline constexpr bool k_tells_class = false;
#endif

template <class... K> kinds<K...> list_of(kinds<K...> const& /*base of kinds_of*/);
template <class T, bool = is_of_one_kind<T>> struct kinds_behind { using list = kinds<T>; };
template <class T> struct kinds_behind<T, false> {
    static_assert(k_tells_class<T>,
                  "objects of classes with virtual functions travel behind a pointer only in a "
                  "program with run-time type information: compile without -fno-rtti, or make the "
                  "class final");
    static_assert(has_kinds<T>,
                  "objects of classes with virtual functions travel behind a pointer if their "
                  "classes are named: template <> struct tulle::kinds_of<Base> : "
                  "tulle::kinds<First, Second> {}; (a class that is final needs none)");
    using list = decltype(list_of(kinds_of<T>{}));
};

template <class K> void put_object(wire_writer& out, void const* object) {
    out.put_in_place(*static_cast<K const*>(object));
}
template <class K> void fill_object(wire_reader& in, void* object) {
    in.get_in_place(*static_cast<K*>(object));
}
template <class K> void empty_object(void* object) noexcept {
    auto* const one = static_cast<K*>(object);
    if constexpr (std::is_nothrow_default_constructible_v<K>) {
        std::destroy_at(one);
        std::construct_at(one);
    } else if constexpr (std::is_move_assignable_v<K>) {
        TULLE_TRY { *one = K(); }
        TULLE_CATCH(...) {} // without memory it is left to its destructor
    }
}

// Whether objects are made empty, so that pointers can lead to them before they are complete.
template <class K>
inline constexpr bool is_made_first = std::is_default_constructible_v<K> &&
                                      (fills_in_place<K> || std::is_move_assignable_v<K>);

template <class K> constexpr object_kind make_object_kind() {
    if constexpr (is_made_first<K>)
        return {&put_object<K>, &fill_object<K>, &empty_object<K>};
    else
        return {&put_object<K>, nullptr, nullptr};
}
template <class K> inline constexpr object_kind k_kind = make_object_kind<K>();

struct located_object {
    void const* object; // all of it
    object_kind const* kind;
    std::size_t index; // of its class
};

// An object, whose class is one of K: all of it, and which class that is.
template <class T, class... K> [[nodiscard]] located_object locate_kind(T const& object) {
#if defined(__GXX_RTTI)
    located_object found{dynamic_cast<void const*>(std::addressof(object)), nullptr, 0};
    static_cast<void>(
        ((typeid(object) == typeid(K) ? (found.kind = &k_kind<K>, true) : (++found.index, false)) ||
         ...));
    if (found.kind == nullptr) refuse_kind(typeid(object), typeid(T));
    return found;
#else
    return {std::addressof(object), nullptr, 0}; // refused when it is compiled (kinds_behind)
#endif
}

template <class T, class List = typename kinds_behind<T>::list> struct pointee;

// A T, or what derives from it.
template <class T, class... K> struct pointee<T, kinds<K...>> {
    static_assert((std::is_base_of_v<T, K> && ...) || std::is_same_v<kinds<T>, kinds<K...>>,
                  "tulle::kinds_of<Base> names a class that does not derive from Base");
    static_assert((!std::is_abstract_v<K> && ...),
                  "tulle::kinds_of names an abstract class: name those of the objects");
    static_assert(sizeof...(K) <= 65536);

    static constexpr bool k_are_made_first = (is_made_first<K> && ...);
    static constexpr bool k_is_sole = sizeof...(K) == 1;

    [[nodiscard]] static located_object locate(T const& object) {
        if constexpr (is_of_one_kind<T>)
            return {std::addressof(object), &k_kind<T>, 0};
        else
            return locate_kind<T, K...>(object);
    }
    static void put_index(wire_writer& out, std::size_t index) {
        if constexpr (!k_is_sole) out.put(static_cast<std::uint16_t>(index));
    }
    [[nodiscard]] static std::size_t get_index(wire_reader& in) {
        if constexpr (k_is_sole) {
            return 0;
        } else {
            std::size_t const index = in.get<std::uint16_t>();
            if (index >= sizeof...(K))
                in.refuse("tulle: a message has an object of an unknown class");
            return index;
        }
    }
    // The object as a T; null: it is of none of these classes.
    [[nodiscard]] static T* as_base(void* object, object_kind const* kind) noexcept {
        T* found = nullptr;
        static_cast<void>(
            ((kind == &k_kind<K> ? (found = static_cast<K*>(object), true) : false) || ...));
        return found;
    }

    template <class K1>
    [[nodiscard]] static std::unique_ptr<T> get_one(wire_reader& in, mention how) {
        if constexpr (is_made_first<K1>) {
            auto one = std::make_unique<K1>();
            in.graph()->fill(in, one.get(), k_kind<K1>, how);
            return one;
        } else {
            return read_one<K1>(in, how);
        }
    }
    template <class K1>
    [[nodiscard]] static std::shared_ptr<T> share_one(wire_reader& in, mention how) {
        graph_reader& graph = *in.graph();
        if constexpr (is_made_first<K1>) {
            auto one = std::make_shared<K1>();
            graph.add_shared({one, one.get(), &k_kind<K1>, how != mention::only_named});
            if (how != mention::only_named) graph.fill(in, one.get(), k_kind<K1>, how);
            return one;
        } else {
            std::size_t const number = graph.add_shared({nullptr, nullptr, &k_kind<K1>, true});
            std::shared_ptr<K1> one = read_one<K1>(in, how);
            graph.set_owner(number, one, one.get());
            return one;
        }
    }
    using get_function = std::unique_ptr<T> (*)(wire_reader&, mention);
    using share_function = std::shared_ptr<T> (*)(wire_reader&, mention);
    static constexpr std::array<get_function, sizeof...(K)> k_get{&get_one<K>...};
    static constexpr std::array<share_function, sizeof...(K)> k_share{&share_one<K>...};

private:
    template <class K1>
    [[nodiscard]] static std::unique_ptr<K1> read_one(wire_reader& in, mention how) {
        if (!is_at_once(how)) in.refuse("tulle: a message has an object too late");
        queue_of_objects queue(*in.graph());
        std::unique_ptr<K1> one(new K1(in.get<K1>()));
        queue.work_off(in);
        return one;
    }
};

// --- mentions ------------------------------------------------------------------------------------

[[nodiscard]] inline mention get_mention(wire_reader& in) {
    auto const byte = in.get<std::uint8_t>();
    if (byte > static_cast<std::uint8_t>(k_last_mention))
        in.refuse("tulle: a message has no pointer where one is read");
    return static_cast<mention>(byte);
}

template <class T> void put_owned(wire_writer& out, T const* object) {
    if (object == nullptr) return out.put(mention::nothing);
    located_object const found = pointee<T>::locate(*object);
    graph_writer& graph = *out.graph();
    bool const is_later = found.kind->fill != nullptr && graph.may_follow_later();
    out.put(is_later ? mention::later : mention::at_once);
    pointee<T>::put_index(out, found.index);
    if (is_later)
        graph.put_later(found.object, *found.kind);
    else
        graph.put_at_once(out, found.object, *found.kind);
}

template <class T> [[nodiscard]] std::unique_ptr<T> get_owned(wire_reader& in) {
    mention const how = get_mention(in);
    if (how == mention::nothing) return nullptr;
    if (how != mention::later && how != mention::at_once)
        in.refuse("tulle: a message shares an object that has one owner");
    return pointee<T>::k_get[pointee<T>::get_index(in)](in, how);
}

template <class T> void put_shared(wire_writer& out, std::shared_ptr<T const> object, bool owns) {
    if (object == nullptr) return out.put(mention::nothing);
    located_object const found = pointee<T>::locate(*object);
    graph_writer& graph = *out.graph();
    auto const [how, number] = graph.name(std::move(object), found.object, *found.kind, owns);
    out.put(how);
    if (is_first(how))
        pointee<T>::put_index(out, found.index);
    else
        out.put(number);
    if (is_later(how)) graph.put_later(found.object, *found.kind);
    if (!is_at_once(how)) return;
    graph.put_at_once(out, found.object, *found.kind);
    graph.end_object(found.object, *found.kind);
}

template <class T> [[nodiscard]] std::shared_ptr<T> get_known(wire_reader& in, mention how) {
    graph_reader& graph = *in.graph();
    graph_reader::shared_object& known = graph.shared(in, in.get<std::uint64_t>());
    std::shared_ptr<T> found(known.owner, pointee<T>::as_base(known.object, known.kind));
    if (found == nullptr) in.refuse("tulle: a message refers to an object of another class");
    if (how == mention::known) return found;
    if (known.has_followed || known.kind->fill == nullptr)
        in.refuse("tulle: a message has an object twice");
    known.has_followed = true;
    graph.fill(in, known.object, *known.kind, how); // `known` may move
    return found;
}

template <class T> [[nodiscard]] std::shared_ptr<T> get_shared(wire_reader& in, bool owns) {
    mention const how = get_mention(in);
    if (how == mention::nothing) return nullptr;
    bool const is_named = how == mention::only_named || how == mention::known;
    if (owns ? how == mention::only_named : !is_named)
        in.refuse("tulle: a message has another kind of pointer than the one that is read");
    if (!is_first(how)) return get_known<T>(in, how);
    return pointee<T>::k_share[pointee<T>::get_index(in)](in, how);
}

template <class T> struct pointed_to {
    static_assert(!std::is_array_v<T>,
                  "a pointer to an array does not say how many there are: send a std::vector");
    static_assert(!std::is_void_v<T>,
                  "a pointer to void does not say what to send: point to a class");
    static_assert(!std::is_function_v<T>,
                  "a function pointer does not travel: wrap the call in a lambda");
    using type = std::remove_cv_t<T>;
};
template <class T> using pointed_to_t = typename pointed_to<T>::type;

} // namespace detail

template <class T, class D> struct wire<std::unique_ptr<T, D>> {
    using library = void;
    using object = detail::pointed_to_t<T>;

    static_assert(std::is_same_v<D, std::default_delete<T>>,
                  "a std::unique_ptr travels with the default deleter only: another one means "
                  "nothing at another place");
    static_assert(std::is_final_v<object> || !std::is_polymorphic_v<object> ||
                      std::has_virtual_destructor_v<object>,
                  "objects that derive from this class are deleted by its destructor: make it "
                  "virtual");

    static void put(wire_writer& out, std::unique_ptr<T> const& p) {
        if (out.graph() == nullptr) return out.put(p);
        detail::put_owned<object>(out, p.get());
    }
    static std::unique_ptr<T> get(wire_reader& in) {
        if (in.graph() == nullptr) return in.get<std::unique_ptr<T>>();
        return detail::get_owned<object>(in);
    }
};

template <class T> struct wire<std::shared_ptr<T>> {
    using library = void;
    using object = detail::pointed_to_t<T>;

    static void put(wire_writer& out, std::shared_ptr<T> const& p) {
        if (out.graph() == nullptr) return out.put(p);
        detail::put_shared<object>(out, p, true);
    }
    static std::shared_ptr<T> get(wire_reader& in) {
        if (in.graph() == nullptr) return in.get<std::shared_ptr<T>>();
        return detail::get_shared<object>(in, true);
    }
};

template <class T> struct wire<std::weak_ptr<T>> {
    using library = void;
    using object = detail::pointed_to_t<T>;

    static void put(wire_writer& out, std::weak_ptr<T> const& p) {
        check();
        if (out.graph() == nullptr) return out.put(p);
        detail::put_shared<object>(out, p.lock(), false);
    }
    static std::weak_ptr<T> get(wire_reader& in) {
        check();
        if (in.graph() == nullptr) return in.get<std::weak_ptr<T>>();
        return detail::get_shared<object>(in, false);
    }

private:
    static void check() noexcept {
        static_assert(detail::pointee<object>::k_are_made_first,
                      "what a std::weak_ptr points to is made before its parts: give its class a "
                      "default constructor and an assignment");
    }
};

} // namespace tulle
