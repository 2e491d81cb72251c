// SPDX-License-Identifier: Apache-2.0
// The library's part of <tulle/detail/wire_graph.hpp>: queues of objects, those that are shared,
// and the room on the stack.
#include "arch/current_stack.hpp"
#include "base/sanitize.hpp"
#include "messenger/exception_wire.hpp"
#include "sched/fiber.hpp"

#include <tulle/detail/current.hpp>
#include <tulle/wire.hpp>

#include <stdexcept>
#include <string>
#include <unordered_map>

namespace tulle::detail {

namespace {

// What is left for the frames between two checks, for destructors, and for an exception.
constexpr std::size_t k_reserve = base::k_address_sanitizer || base::k_thread_sanitizer
                                      ? std::size_t{16} << 10U
                                      : std::size_t{6} << 10U;
// Values on a stack whose bounds nobody knows.
constexpr unsigned k_most_unknown = 64;
constexpr std::uintptr_t k_is_unknown = 1;

std::uintptr_t lowest_within(void const* low, std::size_t size, std::uintptr_t here) noexcept {
    auto const first = reinterpret_cast<std::uintptr_t>(low);
    return here >= first && here - first < size ? first + k_reserve : k_is_unknown;
}

std::uintptr_t lowest_on_stack(std::uintptr_t here) noexcept {
    auto const* const fiber = static_cast<sched::fiber const*>(current_fiber());
    if (fiber != nullptr) {
        std::uintptr_t const lowest = lowest_within(fiber->stack.low, fiber->stack.size, here);
        if (lowest != k_is_unknown) return lowest;
    }
    arch::stack_bounds const bounds = arch::os_thread_stack();
    return lowest_within(bounds.low, bounds.size, here);
}

} // namespace

bool nesting::has_room() noexcept {
    auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (m_lowest == 0) m_lowest = lowest_on_stack(here);
    return m_lowest == k_is_unknown ? m_depth <= k_most_unknown : here >= m_lowest;
}

// --- written -------------------------------------------------------------------------------------

void graph_writer::put_later(void const* object, object_kind const& kind) {
    m_waiting.push_back({object, &kind});
}

void graph_writer::put_at_once(wire_writer& out, void const* object, object_kind const& kind) {
    if (m_works_off) return kind.put(out, object);
    std::size_t const outer_next = m_next;
    std::size_t const first = m_waiting.size();
    m_works_off = true;
    m_next = first;
    kind.put(out, object);
    while (m_next < m_waiting.size()) {
        waiting const next = m_waiting[m_next++];
        if (m_next == m_waiting.size()) {
            m_waiting.resize(first);
            m_next = first;
        }
        next.kind->put(out, next.object);
    }
    m_waiting.resize(first);
    m_next = outer_next;
    m_works_off = false;
}

struct graph_writer::known_objects {
    struct key {
        void const* object;
        object_kind const* kind;
        friend bool operator==(key const&, key const&) noexcept = default;
    };
    struct hash {
        std::size_t operator()(key const& k) const noexcept {
            return std::hash<void const*>{}(k.object) * 31 + std::hash<void const*>{}(k.kind);
        }
    };
    enum class state : std::uint8_t { only_named, begun, complete };
    struct entry {
        std::shared_ptr<void const> owner;
        std::uint64_t number;
        state written;
    };

    std::unordered_map<key, entry, hash> all;
};

graph_writer::naming graph_writer::name(std::shared_ptr<void const> owner, void const* object,
                                        object_kind const& kind, bool owns) {
    using state = known_objects::state;
    if (m_known == nullptr) m_known = new known_objects;
    auto& all = m_known->all;
    auto const [at, is_new] = all.try_emplace({object, &kind});
    auto& known = at->second;
    if (is_new) known = {std::move(owner), all.size() - 1, state::only_named};
    if (known.written == state::begun)
        throw std::invalid_argument(
            "tulle: an object that travels is part of a cycle of pointers, but cannot be made "
            "before its parts: give its class a default constructor and an assignment");
    if (!owns || known.written == state::complete)
        return {is_new ? mention::only_named : mention::known, known.number};
    bool const is_filled = kind.fill != nullptr;
    known.written = is_filled ? state::complete : state::begun;
    if (is_filled && m_works_off)
        return {is_new ? mention::later : mention::known_later, known.number};
    return {is_new ? mention::at_once : mention::known_at_once, known.number};
}

void graph_writer::end_object(void const* object, object_kind const& kind) noexcept {
    m_known->all.find({object, &kind})->second.written = known_objects::state::complete;
}

void graph_writer::forget() noexcept { delete m_known; }

void refuse_kind(std::type_info const& object, std::type_info const& base) {
    throw std::invalid_argument("tulle: an object of class " + messenger::readable_name(object) +
                                " does not travel behind a pointer to " +
                                messenger::readable_name(base) +
                                ": tulle::kinds_of does not name it");
}

void refuse_depth() {
    throw std::invalid_argument(
        "tulle: values that travel are nested deeper than the stack of the calling thread allows: "
        "have them point to each other (std::unique_ptr), or give the thread a larger stack");
}

void refuse_valueless() {
    throw std::invalid_argument("tulle: a variant that has lost its value does not travel");
}

// --- read ----------------------------------------------------------------------------------------

void graph_reader::fill(wire_reader& in, void* object, object_kind const& kind, mention how) {
    if (is_later(how)) {
        if (!m_works_off) in.refuse("tulle: a message has an object too late");
        m_made.push_back({object, &kind});
        return;
    }
    queue_of_objects queue(*this);
    queue.add_first(object, kind);
    kind.fill(in, object);
    queue.work_off(in);
}

std::size_t graph_reader::add_shared(shared_object object) {
    m_shared.push_back(std::move(object));
    return m_shared.size() - 1;
}

graph_reader::shared_object& graph_reader::shared(wire_reader& in, std::uint64_t number) {
    if (number >= m_shared.size())
        in.refuse("tulle: a message refers to an object that it has not");
    shared_object& found = m_shared[number];
    if (found.owner == nullptr)
        in.refuse("tulle: a message refers to an object that is not complete");
    return found;
}

void graph_reader::take_apart() noexcept {
    for (std::size_t left = m_made.size(); left != 0; --left)
        m_made[left - 1].kind->empty(m_made[left - 1].object);
    m_made.clear();
    m_next = 0;
    for (std::size_t left = m_shared.size(); left != 0; --left) {
        shared_object const& one = m_shared[left - 1];
        if (one.owner != nullptr && one.kind->empty != nullptr) one.kind->empty(one.object);
    }
}

void queue_of_objects::add_first(void* object, object_kind const& kind) {
    if (!m_is_outermost) return; // it would be filled again
    m_graph.m_made.push_back({object, &kind});
    m_graph.m_next = m_graph.m_made.size();
}

void queue_of_objects::work_off(wire_reader& in) {
    if (!m_is_outermost) return;
    while (m_graph.m_next < m_graph.m_made.size()) {
        auto const next = m_graph.m_made[m_graph.m_next++];
        next.kind->fill(in, next.object);
    }
}

queue_of_objects::~queue_of_objects() {
    if (!m_is_outermost) return;
    m_graph.m_works_off = false;
    m_graph.m_next = m_outer_next;
    if (!m_graph.m_keeps && m_graph.m_made.size() > m_first) m_graph.m_made.resize(m_first);
}

} // namespace tulle::detail

namespace tulle {

void wire_reader::refuse(char const* why) {
    if (m_graph != nullptr) m_graph->take_apart();
    throw wire_error(why);
}

void wire_reader::refuse_depth() {
    refuse("tulle: values in a message are nested deeper than the stack of the thread allows that "
           "reads it");
}

} // namespace tulle
