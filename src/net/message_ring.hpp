// SPDX-License-Identifier: Apache-2.0
// A ring of cache lines in memory that two processes share: one producer, one consumer. A message
// is some lines in a row, the first of which starts with a tag that publishes all of them, so that
// a small message is one line that goes from cache to cache.
//   INV-1  the tag of the line at the producer's end is zero, and nobody but the producer writes it
//   INV-2  a tag that is not zero is the number of lines up to the next tag, with k_pad if they
//          hold no message
// Before a message is published the tag behind it is made zero. The consumer has that line in its
// cache, and getting it would take as long as the message itself; so it is done some messages
// ahead, after another one was published. A message of n lines needs n + 1 free ones, and those
// ahead.
// Where the lines up to the end of the ring are too few, they are padding. The producer keeps the
// value of the consumer's count that it read last, and reads it again only when the ring is full.
// Source: the idea of a flag in the line itself is that of FastForward (Giacomoni and others, PPoPP
// 2008).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tulle::net {

// What the consumer writes.
template <class Machine> struct alignas(64) ring_control {
    template <class T> using atomic = typename Machine::template atomic<T>;

    atomic<std::uint64_t> consumed{0}; // lines, so far
};

inline constexpr std::uint32_t k_pad = std::uint32_t{1} << 31U;

// Line: has a member `tag`, an atomic 32-bit word of the machine.
template <class Machine, class Line> class ring_producer {
public:
    // `lines`: so many, a power of two, all tags zero.
    ring_producer(ring_control<Machine>& control, Line* lines, std::uint32_t count) noexcept
        : m_control(&control),
          m_lines(lines),
          m_count(count),
          m_ahead(std::min(k_most_ahead, count / 8)) {}

    // Room for a message of so many lines, fewer than half of the ring: the first one, to be filled
    // from behind its tag on. Null: full.
    [[nodiscard]] Line* reserve(std::uint32_t lines) noexcept {
        std::uint32_t const at = index(m_end);
        std::uint32_t const padding = at + lines > m_count ? m_count - at : 0;
        if (!has_room(padding + lines + 1 + m_ahead)) return nullptr;
        if (padding != 0) publish_lines(padding, padding | k_pad);
        return &m_lines[index(m_end)];
    }
    // What reserve(lines) has given.
    void publish(std::uint32_t lines) noexcept { publish_lines(lines, lines); }

private:
    static constexpr std::uint32_t k_most_ahead = 4; // lines

    [[nodiscard]] std::uint32_t index(std::uint64_t position) const noexcept {
        return static_cast<std::uint32_t>(position & (m_count - 1));
    }
    [[nodiscard]] bool has_room(std::uint32_t lines) noexcept {
        if (m_end + lines - m_seen <= m_count) return true;
        // Pairs with pop: the consumer has read them.
        m_seen = m_control->consumed.load(std::memory_order_acquire);
        return m_end + lines - m_seen <= m_count;
    }
    void publish_lines(std::uint32_t lines, std::uint32_t tag) noexcept {
        m_cleared = std::max(m_cleared, m_end + lines - 1); // what lies in the message is no tag
        clear_to(m_end + lines);
        m_lines[index(m_end)].tag.store(tag, std::memory_order_release); // pairs with front
        m_end += lines;
        clear_to(m_end + m_ahead);
    }
    void clear_to(std::uint64_t position) noexcept {
        while (m_cleared < position)
            // relaxed: published by a message before it
            m_lines[index(++m_cleared)].tag.store(0, std::memory_order_relaxed);
    }

    ring_control<Machine>* m_control;
    Line* m_lines;
    std::uint32_t m_count;
    std::uint32_t m_ahead;
    std::uint64_t m_end = 0;     // lines published so far
    std::uint64_t m_cleared = 0; // tags from the end up to here are zero
    std::uint64_t m_seen = 0;    // of `consumed`
};

template <class Machine, class Line> class ring_consumer {
public:
    ring_consumer(ring_control<Machine>& control, Line* lines, std::uint32_t count) noexcept
        : m_control(&control), m_lines(lines), m_count(count) {}

    // The first line of the oldest message, or null: there is none.
    [[nodiscard]] Line const* front() noexcept {
        for (;;) {
            Line& line = m_lines[m_begin & (m_count - 1)];
            // Pairs with publish.
            std::uint32_t const tag = line.tag.load(std::memory_order_acquire);
            if (tag == 0) return nullptr;
            if ((tag & k_pad) == 0) {
                m_lines_of_front = tag;
                __builtin_prefetch(&m_lines[(m_begin + tag) & (m_count - 1)]); // read next
                return &line;
            }
            m_lines_of_front = tag & ~k_pad;
            pop();
        }
    }
    // The message of front() has been read; its lines are the producer's again.
    void pop() noexcept {
        m_begin += m_lines_of_front;
        m_control->consumed.store(m_begin, std::memory_order_release); // pairs with has_room
    }

private:
    ring_control<Machine>* m_control;
    Line* m_lines;
    std::uint32_t m_count;
    std::uint32_t m_lines_of_front = 0;
    std::uint64_t m_begin = 0;
};

} // namespace tulle::net
