// SPDX-License-Identifier: Apache-2.0
#include "diag/stack_overflow.hpp"

#include "diag/stack_trace.hpp"
#include "diag/wording.hpp"
#include "os/mapped_memory.hpp"
#include "os/mapped_range.hpp"
#include "sched/watch/census.hpp"

#include <algorithm>
#include <array>
#include <exception>

namespace tulle::diag {

namespace {

constexpr std::size_t k_most_frames_searched = 64;
constexpr std::size_t k_most_frames_shown = 12;
constexpr std::size_t k_large_frame = 4096; // worth a line
constexpr std::size_t k_margin = std::size_t{64} << 10U;

std::uintptr_t low_of(stack::span s) noexcept { return reinterpret_cast<std::uintptr_t>(s.low); }
std::uintptr_t end_of(stack::span s) noexcept { return reinterpret_cast<std::uintptr_t>(s.end()); }
std::uintptr_t stack_pointer(arch::registers const& r) noexcept {
    return r.value[arch::k_stack_pointer];
}
// Where an architecture's registers are not known, the address that was touched tells how deep the
// stack was.
std::uintptr_t depth(fault const& f) noexcept {
    return f.from.has(arch::k_stack_pointer) ? stack_pointer(f.from) : f.address;
}

// What the unwinder may read: the stack, and what lies below it down to the stack pointer, where
// the thread has written itself.
stack_range readable(stack::span own, arch::registers const& registers) noexcept {
    return {std::min(low_of(own), stack_pointer(registers)), end_of(own)};
}

struct frame_size {
    std::size_t bytes = 0;
    std::uintptr_t pc = 0;
};

frame_size largest_frame(fault const& f, stack::span own) noexcept {
    frame_size largest;
    arch::registers at = f.from;
    std::uintptr_t bottom = f.probe_target != 0 ? f.probe_target : stack_pointer(at);
    bool is_call = false;
    for (std::size_t k = 0; arch::k_can_unwind && k < k_most_frames_searched; ++k) {
        std::uintptr_t const pc = is_call ? at.pc - 1 : at.pc;
        frame_step const step = to_caller(at, readable(own, f.from), is_call);
        if (step != frame_step::call || stack_pointer(at) <= bottom) break;
        if (stack_pointer(at) - bottom > largest.bytes) largest = {stack_pointer(at) - bottom, pc};
        bottom = stack_pointer(at);
        is_call = true;
    }
    return largest;
}

// "64K", as options are written
phrase size_text(std::size_t bytes) noexcept {
    constexpr std::size_t k_kibi = 1024;
    if (bytes % (k_kibi * k_kibi * k_kibi) == 0)
        return phrase::make("%zuG", bytes / (k_kibi * k_kibi * k_kibi));
    if (bytes % (k_kibi * k_kibi) == 0) return phrase::make("%zuM", bytes / (k_kibi * k_kibi));
    return phrase::make("%zuK", bytes / k_kibi);
}

} // namespace

overflow_kind suspect(fault const& f, stack::span own, std::size_t guard_bytes) noexcept {
    constexpr std::size_t k_near = 4096; // code that touches the stack ahead of its stack pointer
    std::uintptr_t const sp = depth(f);
    if (!own || sp >= low_of(own) + k_near) return overflow_kind::none;
    bool const in_guard = low_of(own) - f.address <= guard_bytes && f.address < low_of(own);
    if (in_guard) return overflow_kind::into_guard;
    return sp < low_of(own) && f.from.has(arch::k_stack_pointer) ? overflow_kind::past_guard
                                                                 : overflow_kind::none;
}

bool stands_on_system_stack(sched::worker const& w) noexcept {
    return w.current != nullptr && !w.current->stack && w.on_system_stack != nullptr;
}

// The frame that did not fit lies above its stack pointer; a call, or code without a frame of its
// own, touches what is just below.
bool is_near_stack_pointer(fault const& f) noexcept {
    constexpr std::uintptr_t k_below = 65536;
    constexpr std::uintptr_t k_largest_frame = std::uintptr_t{64} << 20U;
    return f.address + k_below >= depth(f) && f.address < depth(f) + k_largest_frame;
}

bool began_on(stack::span own, arch::registers registers) noexcept {
    stack_range const range = readable(own, registers);
    bool is_call = false;
    for (std::size_t k = 0; arch::k_can_unwind && k < k_most_frames_searched; ++k) {
        std::uintptr_t const before = stack_pointer(registers);
        if (to_caller(registers, range, is_call) != frame_step::call ||
            stack_pointer(registers) <= before)
            return false;
        if (stack_pointer(registers) > low_of(own)) return stack_pointer(registers) <= end_of(own);
        is_call = true;
    }
    return false;
}

std::size_t bytes_wanted(fault const& f, stack::span own) noexcept {
    std::uintptr_t lowest = std::min(depth(f), low_of(own));
    if (f.probe_target != 0) lowest = std::min(lowest, f.probe_target);
    return end_of(own) - lowest;
}

std::size_t size_to_set(std::size_t class_bytes, std::size_t wanted) noexcept {
    std::size_t const least = std::max(2 * class_bytes, wanted + std::min(wanted / 2, k_margin));
    return least > stack::k_largest_bytes ? 0 : stack::class_for(least).bytes();
}

namespace {

// The system keeps so much free below a stack that grows, by default.
constexpr std::size_t k_system_gap = std::size_t{1} << 20U;

// The stack as far as it has grown; its guard is not readable, so it is no part of it.
stack::span system_stack(sched::worker const& w) noexcept {
    auto const mapped = os::mapping_around(reinterpret_cast<std::uintptr_t>(w.on_system_stack));
    return {reinterpret_cast<std::byte*>(mapped.low), mapped.high - mapped.low};
}

class overflow_writer {
public:
    overflow_writer(sched::worker const& w, fault const& f, int process, int output) noexcept
        : m_of(*w.owner),
          m_seen(sched::census::current_of(w)),
          m_is_systems(stands_on_system_stack(w)),
          m_own(m_is_systems ? system_stack(w) : m_seen.stack),
          m_fault(f),
          m_process(process),
          m_out(output) {}

    // The parts come in this order, so that something is said even when the rest fails.
    void write() {
        overflow_kind const kind = suspect(m_fault, m_own, guard_bytes());
        if (kind == overflow_kind::none || (kind == overflow_kind::past_guard && !is_certain()))
            return;
        m_out.print("tulle: %s overflowed its stack of %zu bytes (process %d)\n",
                    name_of(m_seen.id).text, class_bytes(), m_process);
        if (m_seen.outer_count != 0)
            m_out.print("    in the place of %s, which joins it and whose stack it is\n",
                        name_of(m_seen.outer[m_seen.outer_count - 1]).text);
        if (kind == overflow_kind::past_guard) {
            m_out.print("    past its end, into what belongs to others; compile with "
                        "-fstack-clash-protection to have that found at once\n");
        }
        print_advice();
        m_out.flush();
        look_at_frames();
        m_symbols.resolve();
        print_origin();
        print_frames();
        m_out.flush();
    }

private:
    [[nodiscard]] std::size_t class_bytes() const noexcept {
        return m_is_systems || m_own.size > stack::k_largest_bytes
                   ? m_own.size
                   : stack::class_for(m_own.size).bytes();
    }
    [[nodiscard]] std::size_t guard_bytes() const noexcept {
        return m_is_systems ? k_system_gap : stack::guard_bytes(stack::class_for(m_own.size));
    }
    // It came from this stack, or a neighbour's stack is where it is now.
    [[nodiscard]] bool is_certain() const noexcept {
        stack::span const here{reinterpret_cast<std::byte*>(stack_pointer(m_fault.from)),
                               m_own.size};
        return began_on(m_own, m_fault.from) || (m_of.has_stacks() && m_of.stacks().owns(here));
    }

    // The size of such a stack is not the library's to choose.
    void print_advice_for_system() noexcept {
        if (m_seen.stack_kind == sched::fiber_kind::guest)
            m_out.print("    it is the stack of an OS thread of the program's own: give that a "
                        "larger one (pthread_attr_setstacksize, "
                        "ulimit -s)\n");
        else
            m_out.print("    it is the stack of the OS thread that started the library: raise its "
                        "limit (ulimit -s)\n");
        std::size_t const size =
            size_to_set(stack::class_for(m_of.chosen().stack_size).bytes(), m_own.size);
        if (m_seen.outer_count != 0 && size != 0)
            m_out.print("    or give the thread one of its own, on which it runs wherever it is "
                        "joined: stack_size=%s where it is spawned\n",
                        size_text(size).text);
    }

    // The limit of the system is the size that threads without attributes have, in KiB.
    void print_advice() noexcept {
        if (m_is_systems) return print_advice_for_system();
        std::size_t const size = size_to_set(class_bytes(), bytes_wanted(m_fault, m_own));
        if (size == 0) return m_out.print("    it wanted more than the 1G that a stack can have\n");
        m_out.print("    give it %zu bytes or more: ", size);
        if (m_seen.has_variables)
            return m_out.print("pthread_attr_setstacksize, or ulimit -s %zu where the program does "
                               "not choose\n",
                               size / 1024);
        if (!m_seen.has_own_stack) m_out.print("TULLE_STACK_SIZE=%s", size_text(size).text);
        bool const by_attribute = m_seen.site != nullptr && m_seen.outer_count == 0;
        if (by_attribute || m_seen.has_own_stack)
            m_out.print("%sstack_size=%s where it is spawned", m_seen.has_own_stack ? "" : ", or ",
                        size_text(size).text);
        m_out.print("\n");
    }

    void look_at_frames() {
        unwind(m_fault.from, readable(m_own, m_fault.from), m_trace);
        m_largest = largest_frame(m_fault, m_own);
        for (std::size_t k = 0; k < m_trace.count; ++k) m_symbols.want(m_trace.pcs[k]);
        if (m_largest.bytes >= k_large_frame) m_symbols.want(m_largest.pc);
        if (m_seen.site != nullptr)
            m_symbols.want(call_before(m_seen.site));
        else if (m_seen.stolen != nullptr)
            want_runner(m_symbols, reinterpret_cast<std::uintptr_t>(m_seen.stolen->run));
    }

    void print_origin() noexcept {
        if (m_seen.site != nullptr)
            print_site(m_out, m_symbols.at(call_before(m_seen.site)));
        else if (m_seen.stolen != nullptr) {
            m_out.print("    ");
            print_callable(
                m_out, runner_at(m_symbols, reinterpret_cast<std::uintptr_t>(m_seen.stolen->run)));
        }
    }

    void print_frames() noexcept {
        if (m_largest.bytes >= k_large_frame)
            m_out.print("    the largest frame takes %zu bytes or more: %s\n", m_largest.bytes,
                        m_symbols.at(m_largest.pc).back().function.c_str());
        std::size_t number = 0;
        for (std::size_t k = 0; k < m_trace.count; ++k) {
            for (symbol const& s : m_symbols.at(m_trace.pcs[k])) {
                if (is_internal(s)) continue;
                if (number == k_most_frames_shown) return m_out.print("    ...\n");
                print_call(m_out, number++, s);
            }
        }
    }

    sched::scheduler& m_of;
    sched::thread_view m_seen;
    bool m_is_systems;
    stack::span m_own;
    fault const& m_fault;
    int m_process;
    text_output m_out;
    stack_trace m_trace;
    frame_size m_largest;
    os::mapped_memory m_pages;
    std::pmr::monotonic_buffer_resource m_memory{k_first_bytes, &m_pages};
    symbol_table m_symbols{m_memory, false};

    static constexpr std::size_t k_first_bytes = std::size_t{1} << 18U;
};

} // namespace

void write_overflow(sched::worker const& w, fault const& f, int process, int output) noexcept try {
    overflow_writer(w, f, process, output).write();
} catch (std::exception const& e) {
    text_output(output).print("    (no more is known: %s)\n", e.what());
}

} // namespace tulle::diag
