// SPDX-License-Identifier: Apache-2.0
// A ring between one writer and one reader, with an index for each (Lamport 1983,
// doi:10.1145/69624.357207); each side keeps a copy of the other's index, and reads the real one
// only when the copy says that there is nothing to do. A side that has nothing to do for long says
// so and sleeps. A1: it sets its flag, A2: and reads the other's index once more. B1: the other
// moves its index, B2: and reads the flag. All are sequentially consistent: either A2 sees the new
// index, or B2 the flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace tulle::compat {

// Semaphore: acquire() and release().
template <class Machine, class Semaphore> class ring_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    template <class T> using plain = typename Machine::template plain<T>;

public:
    // `size`: a power of two.
    explicit ring_core(std::uint64_t size) : m_mask(size - 1), m_elements(new plain<void*>[size]) {}

    [[nodiscard]] bool try_put(void* elem) noexcept {
        if (!has_room()) return false;
        put(elem);
        return true;
    }
    void wait_and_put(void* elem) noexcept {
        sleep_until(m_writer, [this] { return has_room(); });
        put(elem);
    }
    // Null: empty.
    [[nodiscard]] void* try_take() noexcept { return has_element() ? take() : nullptr; }
    [[nodiscard]] void* wait_and_take() noexcept {
        sleep_until(m_reader, [this] { return has_element(); });
        return take();
    }
    // relaxed: each side knows its own index, and the other's at some moment; to others this is a
    // hint.
    [[nodiscard]] bool is_empty() const noexcept {
        return m_reader.index.load(std::memory_order_relaxed) ==
               m_writer.index.load(std::memory_order_relaxed);
    }

private:
    // Indices only grow; 64 bits do not wrap around.
    struct alignas(64) side {
        atomic<std::uint64_t> index{0};
        std::uint64_t other = 0; // the other side's index as this side has last seen it
        atomic<bool> sleeps{false};
        Semaphore wake{0};
    };

    // The loads of the caller's own index are relaxed: nobody else writes it.
    // seq_cst: A2; acquire pairs with move_on() of the other side: the place is free, or the
    // element there.
    [[nodiscard]] bool has_room() noexcept {
        std::uint64_t const at = m_writer.index.load(std::memory_order_relaxed);
        if (at - m_writer.other <= m_mask) return true;
        m_writer.other = m_reader.index.load(std::memory_order_seq_cst);
        return at - m_writer.other <= m_mask;
    }
    [[nodiscard]] bool has_element() noexcept {
        std::uint64_t const at = m_reader.index.load(std::memory_order_relaxed); // relaxed: its own
        if (at != m_reader.other) return true;
        m_reader.other = m_writer.index.load(std::memory_order_seq_cst);
        return at != m_reader.other;
    }
    void put(void* elem) noexcept {
        std::uint64_t const at = m_writer.index.load(std::memory_order_relaxed); // relaxed: its own
        m_elements[at & m_mask].store(elem);
        move_on(m_writer, at + 1, m_reader);
    }
    [[nodiscard]] void* take() noexcept {
        std::uint64_t const at = m_reader.index.load(std::memory_order_relaxed); // relaxed: its own
        void* const elem = m_elements[at & m_mask].load();
        move_on(m_reader, at + 1, m_writer);
        return elem;
    }
    static void move_on(side& self, std::uint64_t to, side& other) noexcept {
        // B1; release: see has_room.
        self.index.store(to, std::memory_order_seq_cst);
        // B2.
        if (other.sleeps.load(std::memory_order_seq_cst) && take_flag(other)) other.wake.release();
    }
    // Who takes the flag back ends the sleep. relaxed: the index, and the semaphore, publish what
    // there is.
    [[nodiscard]] static bool take_flag(side& s) noexcept {
        return s.sleeps.exchange(false, std::memory_order_relaxed);
    }

    template <class Ready> static void sleep_until(side& self, Ready const& ready) noexcept {
        while (!ready()) {
            self.sleeps.store(true, std::memory_order_seq_cst); // A1
            // A2; else somebody has taken the flag, and will wake.
            if (ready() && take_flag(self)) return;
            self.wake.acquire();
        }
    }

    side m_writer;
    side m_reader;
    std::uint64_t m_mask;
    std::unique_ptr<plain<void*>[]> m_elements;
};

} // namespace tulle::compat
