// SPDX-License-Identifier: Apache-2.0
#include "stack/stack_arena.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include <sched.h>

#include "arch/fiber_annotations.hpp"
#include "base/assert.hpp"

namespace tulle::stack {
namespace {

constexpr std::size_t k_huge_page = std::size_t{2} << 20U;
// Ranges of one process_madvise call: half of IOV_MAX
constexpr std::uint32_t k_guarded_batch = 512;
// The guards of 512 take the kernel 0.3 ms, and most programs use fewer
constexpr std::uint32_t k_first_batch = 16;
// Each 2 MiB with a guard take a page of the system's, which each fork copies.
constexpr std::size_t k_batch_bytes = std::size_t{128} << 20U;
constexpr std::size_t k_canary_bytes = 256;
// Address space of one slab at most; small where there is little.
constexpr std::size_t k_most_slab_bytes =
    sizeof(void*) == 8 ? std::size_t{1} << 36U : std::size_t{1} << 24U;

bool reads_zero(std::byte const* begin, std::byte const* end) noexcept {
    return std::all_of(begin, end, [](std::byte value) { return value == std::byte{0}; });
}

std::uint32_t batch_of(size_class served) noexcept {
    if (served.is_compact()) return static_cast<std::uint32_t>(k_huge_page / k_compact_bytes);
    return std::clamp(static_cast<std::uint32_t>(k_batch_bytes / served.bytes()), k_first_batch,
                      k_guarded_batch);
}

std::size_t in_pages(size_class served) noexcept {
    std::size_t const page = os::page_size();
    return served.is_compact() ? served.bytes() : (served.bytes() + page - 1) / page * page;
}

} // namespace

stack_arena::stack_arena(size_class served, guard_policy& guards) noexcept
    : m_class(served),
      m_guard_bytes(guard_bytes(served)),
      m_bytes(in_pages(served) + m_guard_bytes),
      m_batch(batch_of(served)),
      m_guards(guards) {}

stack_arena::~stack_arena() {
    auto const& memory = m_guards.memory();
    for (std::uint32_t i = 0; i < m_slab_count; ++i) {
        memory.release(m_slabs[i].next, m_slabs[i].count * sizeof(std::uint32_t));
        memory.release(m_slabs[i].base, m_slabs[i].count * m_bytes);
    }
    if (m_slabs != nullptr) {
        memory.release(m_slabs, k_most_slabs * sizeof(slab));
    }
}

std::size_t stack_arena::allocate(span* out, std::size_t count) noexcept {
    std::size_t done = 0;
    m_wanted.store(true, std::memory_order_relaxed); // relaxed: trim() sees it a batch later or two
    do {
        std::lock_guard const lock(m_lock);
        done += take(out + done, count - done);
    } while (done < count && grow());
    return done;
}

bool stack_arena::has_free() const noexcept {
    // INV-2.
    return m_head != k_end ||
           (m_slab_count > 0 && m_slabs[m_slab_count - 1].fresh < m_slabs[m_slab_count - 1].carved);
}

std::size_t stack_arena::take(span* out, std::size_t count) noexcept {
    std::size_t done = 0;
    while (done < count && has_free()) {
        stack_name const taken = take_one();
        slab const& home = m_slabs[taken.slab()];
        home.next[taken.index()] = k_in_use;
        out[done++] = {stack_base(home, taken.index()) + m_guard_bytes, m_class.bytes()};
    }
    m_stats.in_use += done;
    m_stats.high_water = std::max(m_stats.high_water, m_stats.in_use);
    return done;
}

stack_arena::stack_name stack_arena::take_one() noexcept {
    if (m_head != k_end) {
        stack_name const taken{m_head};
        m_head = m_slabs[taken.slab()].next[taken.index()];
        return taken;
    }
    slab& last = m_slabs[m_slab_count - 1];
    return {((m_slab_count - 1) << 16U) | last.fresh++};
}

void stack_arena::release(span const* returned, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        arch::forget_stack(returned[i].low, returned[i].size);
    }
    std::lock_guard const lock(m_lock);
    for (std::size_t i = 0; i < count; ++i) {
        put_one(returned[i]);
    }
    m_stats.in_use -= count;
    m_released = true;
}

void stack_arena::put_one(span returned) noexcept {
    std::byte* const base = returned.low - m_guard_bytes;
    stack_name const name = name_of(base);
    slab const& home = m_slabs[name.slab()];
    TULLE_ASSERT(home.next[name.index()] == k_in_use,
                 "the stack at %p is released twice; it was free already",
                 static_cast<void*>(returned.low));
    TULLE_CHECK(!has_canary(name) || reads_zero(returned.low - k_canary_bytes, returned.low),
                "a thread overflowed its stack of %zu bytes at %p; give it %zu or more (option "
                "stack_size); TULLE_STACK_REPORT=1 tells whom",
                m_class.bytes(), static_cast<void*>(returned.low), 2 * m_class.bytes());
    home.next[name.index()] = m_head;
    m_head = name.word;
}

stack_arena::stack_name stack_arena::name_of(std::byte* base) const noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(base);
    // The last slabs are the largest: most stacks live there.
    for (std::uint32_t i = m_slab_count; i-- > 0;) {
        auto const offset = address - reinterpret_cast<std::uintptr_t>(m_slabs[i].base);
        if (offset < m_slabs[i].count * m_bytes) {
            return {(i << 16U) | static_cast<std::uint32_t>(offset / m_bytes)};
        }
    }
    base::fatal("%p is no stack of the class of %zu bytes; release a span as it was allocated",
                static_cast<void*>(base), m_class.bytes());
}

bool stack_arena::owns(std::byte const* low) const noexcept {
    std::lock_guard const lock(m_lock);
    return std::any_of(m_slabs, m_slabs + m_slab_count, [&](slab const& s) {
        return low >= s.base && low < s.base + s.count * m_bytes;
    });
}

bool stack_arena::has_canary(stack_name name) const noexcept {
    return m_guard_bytes != 0 && name.index() >= m_slabs[name.slab()].guarded; // INV-3
}

bool stack_arena::is_intact(span in_use) const noexcept {
    std::unique_lock lock(m_lock);
    bool const has = has_canary(name_of(in_use.low - m_guard_bytes));
    lock.unlock();
    return !has || reads_zero(in_use.low - k_canary_bytes, in_use.low);
}

bool stack_arena::grow() noexcept {
    std::lock_guard const growing(m_growing);
    {
        std::lock_guard const lock(m_lock);
        if (has_free()) { // somebody else has grown the arena, or released a stack, in the meantime
            return true;
        }
    }
    slab* const home = slab_with_room();
    return home != nullptr && grow_slab(*home);
}

bool stack_arena::grow_slab(slab& home) noexcept {
    std::uint32_t const batch = next_batch(home);
    std::byte* const first = stack_base(home, home.carved);
    std::size_t guarded = 0;
    if (m_guard_bytes != 0) {
        guarded = m_guards.apply({first, m_bytes, m_guard_bytes, batch});
    }
    std::unique_lock lock(m_lock);
    bool const demand = m_stats.created >= std::max(m_batch, k_guarded_batch) && !m_released;
    lock.unlock();
    if (demand && m_guard_bytes != 0) {
        // All will be used soon: their top pages cost less in one call than as faults.
        m_guards.memory().populate(
            {first + m_bytes - os::page_size(), m_bytes, os::page_size(), batch});
    }
    lock.lock();
    home.guarded += static_cast<std::uint32_t>(guarded);
    home.carved += batch;
    m_released = false;
    m_stats.created += batch;
    m_stats.growths += 1;
    m_stats.unguarded += m_guard_bytes != 0 ? batch - guarded : 0;
    return true;
}

// A whole one, or, the first time, a part of it, and then the rest.
std::uint32_t stack_arena::next_batch(slab const& home) const noexcept {
    bool const is_first = m_guard_bytes != 0 && m_slab_count == 1 && home.carved == 0;
    std::uint32_t const wanted = is_first ? k_first_batch : m_batch - home.carved % m_batch;
    return std::min(wanted, home.count - home.carved);
}

std::uint32_t stack_arena::next_slab_count() const noexcept {
    constexpr std::uint32_t k_first = 4096;
    std::uint32_t const wanted =
        std::min(k_first << std::min(m_slab_count, 4U), k_most_stacks_per_slab);
    return std::max(1U, std::min(wanted, static_cast<std::uint32_t>(k_most_slab_bytes / m_bytes)));
}

stack_arena::slab* stack_arena::slab_with_room() noexcept {
    if (m_slab_count > 0 && m_slabs[m_slab_count - 1].carved < m_slabs[m_slab_count - 1].count) {
        return &m_slabs[m_slab_count - 1];
    }
    auto const& memory = m_guards.memory();
    if (m_slabs == nullptr) {
        m_slabs = static_cast<slab*>(memory.reserve(k_most_slabs * sizeof(slab), os::page_size()));
    }
    if (m_slabs == nullptr || m_slab_count == k_most_slabs) {
        errno = ENOMEM;
        return nullptr;
    }
    slab made{};
    // Where address space is short, take little at a time and leave the rest to others.
    std::uint32_t count = next_slab_count();
    while (!reserve_slab(made, count)) {
        if (count == 1) {
            return nullptr;
        }
        count = count > m_batch ? m_batch : std::max(1U, count / 8);
    }
    std::lock_guard const lock(m_lock);
    m_slabs[m_slab_count] = made;
    m_stats.reserved_bytes += made.count * m_bytes;
    return &m_slabs[m_slab_count++];
}

bool stack_arena::reserve_slab(slab& made, std::uint32_t count) noexcept {
    auto const& memory = m_guards.memory();
    bool const compact = m_class.is_compact();
    std::size_t const bytes = count * m_bytes;
    made.base =
        static_cast<std::byte*>(memory.reserve(bytes, compact ? k_huge_page : os::page_size()));
    if (made.base == nullptr) {
        return false;
    }
    made.next =
        static_cast<std::uint32_t*>(memory.reserve(count * sizeof(std::uint32_t), os::page_size()));
    if (made.next == nullptr) {
        memory.release(made.base, bytes);
        return false;
    }
    made.count = count;
    int const kept = errno;
    memory.advise_huge(made.base, bytes, compact); // advice: a kernel without huge pages refuses it
    errno = kept;
    return true;
}

void stack_arena::trim() noexcept {
    m_wanted.store(false, std::memory_order_relaxed); // relaxed: see allocate()
    std::unique_lock lock(m_lock);
    for (std::uint32_t i = 0; i < m_slab_count; ++i) {
        for (std::uint32_t from = 0; from < m_slabs[i].carved; from += m_batch) {
            trim_batch(m_slabs[i], from, std::min(from + m_batch, m_slabs[i].carved));
            lock.unlock(); // let others at the stacks between two system calls
            if (m_wanted.load(std::memory_order_relaxed)) return;
            lock.lock();
        }
    }
}

void stack_arena::trim_batch(slab const& home, std::uint32_t from, std::uint32_t to) noexcept {
    auto const* const first = home.next + from;
    auto const* const last = home.next + to;
    auto const* run = first;
    while (run != last) {
        auto const* const begin =
            std::find_if(run, last, [](std::uint32_t word) { return word != k_in_use; });
        run = std::find(begin, last, k_in_use);
        bool const whole = begin == first && run == last;
        if (begin != run && (whole || !m_class.is_compact())) { // compact: never split a huge page
            m_guards.memory().discard(
                stack_base(home, static_cast<std::uint32_t>(begin - home.next)),
                static_cast<std::size_t>(run - begin) * m_bytes);
        }
    }
}

void stack_arena::visit(span_visitor visitor, void* argument) const noexcept {
    constexpr int k_most_tries = 1000;
    bool held = m_lock.try_lock();
    for (int tries = 0; !held && tries < k_most_tries; ++tries) {
        ::sched_yield();
        held = m_lock.try_lock();
    }
    for (std::uint32_t i = 0; i < m_slab_count; ++i) {
        slab const& home = m_slabs[i];
        for (std::uint32_t index = 0; index < home.carved; ++index) {
            if (home.next[index] == k_in_use)
                visitor(argument, {stack_base(home, index) + m_guard_bytes, m_class.bytes()});
        }
    }
    if (held) m_lock.unlock();
}

statistics stack_arena::stats() const noexcept {
    std::lock_guard const lock(m_lock);
    return m_stats;
}

} // namespace tulle::stack
