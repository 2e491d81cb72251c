// SPDX-License-Identifier: Apache-2.0
// What a reader or a writer of <tulle/wire.hpp> knows while a value passes that may hold pointers.
// Objects behind pointers are not written inside of each other. While one is written, the others
// that it points to wait in a queue; the reader makes them empty and fills them in the same order.
// So the depth of calls does not grow with the length of a list.
// Such objects follow "later". Where nobody has begun to work off a queue, an object follows "at
// once", with all that it leads to: the outermost pointer, and what must be complete before code
// of the program sees it (keys, parts that a specialisation of wire reads).
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tulle {
class wire_reader;
class wire_writer;
} // namespace tulle

namespace tulle::detail {

// How the objects of one class travel behind pointers. Its address stands for the class.
struct object_kind {
    void (*put)(wire_writer& out, void const* object);
    // Null: an object is only made when its parts are there.
    void (*fill)(wire_reader& in, void* object);
    void (*empty)(void* object) noexcept;
};

// What a message says about a pointer: one byte.
enum class mention : std::uint8_t {
    nothing,    // it is null
    later,      // an object that is mentioned for the first time and follows later
    at_once,    // likewise, it is next
    only_named, // likewise, it follows when a pointer that owns it mentions it, if one does
    known,      // an object that has been mentioned, by its number
    known_later,
    known_at_once
};
inline constexpr mention k_last_mention = mention::known_at_once;

[[nodiscard]] constexpr bool is_first(mention how) noexcept {
    return how == mention::later || how == mention::at_once || how == mention::only_named;
}
[[nodiscard]] constexpr bool is_later(mention how) noexcept {
    return how == mention::later || how == mention::known_later;
}
[[nodiscard]] constexpr bool is_at_once(mention how) noexcept {
    return how == mention::at_once || how == mention::known_at_once;
}

// How many values contain each other, as long as the stack of the calling thread has room.
class nesting {
public:
    // False: there is no room for one more.
    [[nodiscard]] bool enter() noexcept {
        if (++m_depth <= k_unchecked || has_room()) return true;
        leave();
        return false;
    }
    void leave() noexcept { --m_depth; }

private:
    static constexpr unsigned k_unchecked = 4;

    [[nodiscard]] TULLE_API bool has_room() noexcept;

    unsigned m_depth = 0;
    std::uintptr_t m_lowest = 0; // address that the stack may come to; 0: not asked for
};

class graph_writer {
public:
    graph_writer() noexcept = default;
    graph_writer(graph_writer const&) = delete;
    graph_writer& operator=(graph_writer const&) = delete;
    ~graph_writer() {
        if (m_known != nullptr) forget();
    }

    nesting depth;

    // Whether what is met now may follow later.
    [[nodiscard]] bool may_follow_later() const noexcept { return m_works_off; }
    // Objects that do not share; what refers to them stays until it has been written.
    TULLE_API void put_later(void const* object, object_kind const& kind);
    TULLE_API void put_at_once(wire_writer& out, void const* object, object_kind const& kind);

    struct naming {
        mention how;
        std::uint64_t number; // meaningful unless it is the first mention
    };
    // An object with a pointer that shares it. The object stays as long as this writer.
    // std::invalid_argument: it contains itself, and cannot be made before its parts.
    [[nodiscard]] TULLE_API naming name(std::shared_ptr<void const> owner, void const* object,
                                        object_kind const& kind, bool owns);
    // All of the object has been written.
    TULLE_API void end_object(void const* object, object_kind const& kind) noexcept;

private:
    friend class outside_of_queue;
    struct waiting {
        void const* object;
        object_kind const* kind;
    };
    struct known_objects; // the shared ones, by address and class

    TULLE_API void forget() noexcept;

    bool m_works_off = false;
    std::size_t m_next = 0; // of those that wait
    std::vector<waiting> m_waiting;
    known_objects* m_known = nullptr;
};

class graph_reader {
public:
    struct shared_object {
        std::shared_ptr<void> owner; // null: it is being read
        void* object = nullptr;
        object_kind const* kind = nullptr;
        bool has_followed = false;
    };

    nesting depth;

    [[nodiscard]] bool may_follow_later() const noexcept { return m_works_off; }
    // The object, which is empty, is filled now or later, as the message says.
    TULLE_API void fill(wire_reader& in, void* object, object_kind const& kind, mention how);

    // The number of the object.
    TULLE_API std::size_t add_shared(shared_object object);
    // wire_error: there is none, or it is being read.
    [[nodiscard]] TULLE_API shared_object& shared(wire_reader& in, std::uint64_t number);
    // Of an object that is being read.
    void set_owner(std::size_t number, std::shared_ptr<void> owner, void* object) noexcept {
        m_shared[number].owner = std::move(owner);
        m_shared[number].object = object;
    }

    // Empties all objects, those that were made last first: then the destructor of none meets
    // another one, and cycles are broken.
    TULLE_API void take_apart() noexcept;

private:
    friend class outside_of_queue;
    friend class forgotten_objects;
    friend class queue_of_objects;
    struct made_object {
        void* object;
        object_kind const* kind;
    };

    bool m_works_off = false;
    // Whether objects are still known once they are complete: code of the program may have dropped
    // them.
    bool m_keeps = true;
    std::size_t m_next = 0; // to be filled
    std::vector<made_object> m_made;
    std::vector<shared_object> m_shared;
};

// While this exists, objects follow at once. Null: nothing is changed.
class outside_of_queue {
public:
    explicit outside_of_queue(graph_writer* graph) noexcept
        : outside_of_queue(graph == nullptr ? nullptr : &graph->m_works_off) {}
    explicit outside_of_queue(graph_reader* graph) noexcept
        : outside_of_queue(graph == nullptr ? nullptr : &graph->m_works_off) {}
    explicit outside_of_queue(std::nullptr_t /*no graph*/) noexcept {}
    outside_of_queue(outside_of_queue const&) = delete;
    outside_of_queue& operator=(outside_of_queue const&) = delete;
    ~outside_of_queue() {
        if (m_works_off != nullptr) *m_works_off = m_outer;
    }

private:
    explicit outside_of_queue(bool* works_off) noexcept
        : m_works_off(works_off), m_outer(works_off != nullptr && *works_off) {
        if (works_off != nullptr) *works_off = false;
    }

    bool* m_works_off = nullptr;
    bool m_outer = false;
};

// While this exists, objects are not known any more once they are complete: code of the program may
// drop them. Null: nothing is changed.
class forgotten_objects {
public:
    explicit forgotten_objects(graph_reader* graph) noexcept
        : m_graph(graph), m_outer(graph != nullptr && graph->m_keeps) {
        if (graph != nullptr) graph->m_keeps = false;
    }
    forgotten_objects(forgotten_objects const&) = delete;
    forgotten_objects& operator=(forgotten_objects const&) = delete;
    ~forgotten_objects() {
        if (m_graph != nullptr) m_graph->m_keeps = m_outer;
    }

private:
    graph_reader* m_graph;
    bool m_outer;
};

class level {
public:
    explicit level(nesting& of) noexcept : m_of(of), m_has_room(of.enter()) {}
    level(level const&) = delete;
    level& operator=(level const&) = delete;
    ~level() {
        if (m_has_room) m_of.leave();
    }
    [[nodiscard]] bool has_room() const noexcept { return m_has_room; }

private:
    nesting& m_of;
    bool m_has_room;
};

// The objects that one leads to which is read at once.
class queue_of_objects {
public:
    explicit queue_of_objects(graph_reader& graph) noexcept
        : m_graph(graph),
          m_is_outermost(!graph.m_works_off),
          m_outer_next(graph.m_next),
          m_first(graph.m_made.size()) {
        if (!m_is_outermost) return;
        graph.m_works_off = true;
        graph.m_next = m_first;
    }
    queue_of_objects(queue_of_objects const&) = delete;
    queue_of_objects& operator=(queue_of_objects const&) = delete;
    TULLE_API ~queue_of_objects();

    // An object that will be read right away.
    TULLE_API void add_first(void* object, object_kind const& kind);
    // Unless others are worked off already, to which they have been added.
    TULLE_API void work_off(wire_reader& in);

private:
    graph_reader& m_graph;
    bool m_is_outermost;
    std::size_t m_outer_next;
    std::size_t m_first;
};

// A reader or writer has a graph while this exists.
template <class Graph> class attached_graph {
public:
    attached_graph(Graph*& place, Graph& graph) noexcept : m_place(place) { place = &graph; }
    attached_graph(attached_graph const&) = delete;
    attached_graph& operator=(attached_graph const&) = delete;
    ~attached_graph() { m_place = nullptr; }

private:
    Graph*& m_place;
};

// std::invalid_argument: the object's class is not among those of its pointer.
[[noreturn]] TULLE_API void refuse_kind(std::type_info const& object, std::type_info const& base);
// std::invalid_argument: values are nested too deep to be written.
[[noreturn]] TULLE_API void refuse_depth();
// std::invalid_argument: a variant has no value.
[[noreturn]] TULLE_API void refuse_valueless();

} // namespace tulle::detail
