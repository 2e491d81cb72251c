// SPDX-License-Identifier: Apache-2.0
// Global memory: one range of addresses that means the same at all places. Each place contributes a
// segment of it (TULLE_GLOBAL_MEMORY=SIZE, of all together). Between places of one machine a global
// address is an address: loads and stores reach it. Where they do not, the same calls send a
// message, which is served even while the other place computes.
//   auto const counter = tulle::allocate_global_cleared<long>(1);
//   tulle::finish([&](tulle::activities& all) {
//       for (tulle::place p : tulle::places())
//           all.async_at(p, [](auto c) { tulle::fetch_add(c, 1L); }, counter);
//   });
// Contexts: any thread of the process, at any place; those that send messages wait.
// Errors of all: std::invalid_argument: a null pointer, or not aligned; std::out_of_range: not in
// global memory, at both ends; std::system_error: it cannot be mapped at this place, or that one.
// Sources: the distributed memory of TNT (Ye and others: TiNy Threads on BlueGene/P); global
// pointers of Split-C (Culler and others, 1993).
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/global_memory.hpp>
#include <tulle/finish.hpp>
#include <tulle/future.hpp>
#include <tulle/parallel_for.hpp>
#include <tulle/place.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tulle {

// No hole is large enough, at the place that was asked for or at any.
class out_of_global_memory : public std::bad_alloc {
public:
    [[nodiscard]] char const* what() const noexcept override {
        return "tulle: no hole in global memory is large enough (TULLE_GLOBAL_MEMORY sets its "
               "size)";
    }
};

// What lies in global memory: bytes that can be copied, of at most a cache line's alignment.
template <class T>
concept global_object = std::is_trivially_copyable_v<T> && alignof(T) <= 64;
// What has atomic operations there.
template <class T>
concept global_word = global_object<T> &&(sizeof(T) == 4 || sizeof(T) == 8) &&
                      (std::is_integral_v<T> || std::is_enum_v<T>);

// An address in global memory, of bytes or of another object that was made there
// (<tulle/at_home.hpp>). Travels to other places, and is the same there. Arithmetic goes over the
// ends of segments. Does not own anything.
template <class T>
requires(std::is_object_v<T> && alignof(T) <= 64) class global_ptr {
public:
    using element_type = T;
    using difference_type = std::ptrdiff_t;

    constexpr global_ptr() noexcept = default;
    // A null pointer.
    constexpr global_ptr(std::nullptr_t) noexcept {
    } // NOLINT(google-explicit-constructor): as with pointers
    // From what address() has said.
    [[nodiscard]] static constexpr global_ptr at(std::uint64_t address) noexcept {
        global_ptr p;
        p.m_address = address;
        return p;
    }

    // The address as a number, the same at all places; 0: null.
    [[nodiscard]] constexpr std::uint64_t address() const noexcept { return m_address; }
    explicit constexpr operator bool() const noexcept { return m_address != 0; }
    // Whose segment it lies in.
    [[nodiscard]] place home() const { return place(detail::place_of_global(m_address)); }
    // For loads and stores, where these reach the object; else null.
    [[nodiscard]] T* local() const {
        return static_cast<T*>(detail::reach_global(m_address, sizeof(T), alignof(T)));
    }

    // A copy of the object; waits for a message where loads do not reach it. Memory ordering: as of
    // read() and write().
    [[nodiscard]] T load() const requires global_object<T> {
        if (T const* const here = local()) return *here;
        alignas(T) std::array<std::byte, sizeof(T)> bytes;
        detail::read_global(bytes.data(), m_address, sizeof(T));
        return std::bit_cast<T>(bytes);
    }
    // Writes the object; when it returns, the bytes are there.
    void store(T const& value) const requires global_object<T> {
        if (T* const here = local())
            *here = value;
        else
            detail::write_global(&value, m_address, sizeof(T));
    }

    constexpr global_ptr& operator+=(difference_type n) noexcept {
        m_address += static_cast<std::uint64_t>(n) * sizeof(T);
        return *this;
    }
    constexpr global_ptr& operator-=(difference_type n) noexcept { return *this += -n; }
    constexpr global_ptr& operator++() noexcept { return *this += 1; }
    constexpr global_ptr& operator--() noexcept { return *this -= 1; }
    friend constexpr global_ptr operator+(global_ptr p, difference_type n) noexcept {
        return p += n;
    }
    friend constexpr global_ptr operator-(global_ptr p, difference_type n) noexcept {
        return p -= n;
    }
    friend constexpr difference_type operator-(global_ptr a, global_ptr b) noexcept {
        return static_cast<difference_type>(a.m_address - b.m_address) /
               static_cast<difference_type>(sizeof(T));
    }
    friend constexpr auto operator<=>(global_ptr, global_ptr) noexcept = default;

private:
    std::uint64_t m_address = 0;
};

// --- allocation: by the memory managers of the groups of places ----------------------------------

// `count` objects, side by side, not initialised. First in the caller's group of places, then in
// the others. May span several places.
// Errors: out_of_global_memory; std::invalid_argument: no objects.
template <global_object T> [[nodiscard]] global_ptr<T> allocate_global(std::size_t count = 1) {
    return global_ptr<T>::at(
        detail::allocate_global(detail::bytes_of_global(count, sizeof(T)), -1, false));
}
// Allocates memory that is zero.
template <global_object T>
[[nodiscard]] global_ptr<T> allocate_global_cleared(std::size_t count = 1) {
    return global_ptr<T>::at(
        detail::allocate_global(detail::bytes_of_global(count, sizeof(T)), -1, true));
}
// In the segment of that place.
template <global_object T>
[[nodiscard]] global_ptr<T> allocate_global_at(place there, std::size_t count = 1) {
    return global_ptr<T>::at(
        detail::allocate_global(detail::bytes_of_global(count, sizeof(T)), there.index(), false));
}
template <global_object T, class N>
requires std::is_integral_v<N>
void allocate_global_at(N, std::size_t = 1) = delete; // a place is wanted: tulle::place(1), not 1
// Moves what `p` points to, if need be; the first of both counts of objects stay what they are.
// Null: as allocate_global. Errors: as that and free_global; `p` is as it was then.
template <global_object T>
[[nodiscard]] global_ptr<T> reallocate_global(global_ptr<T> p, std::size_t count) {
    return global_ptr<T>::at(
        detail::reallocate_global(p.address(), detail::bytes_of_global(count, sizeof(T))));
}
// By any place; null: nothing. Errors: std::invalid_argument: no allocation begins there, or it has
// been freed.
template <global_object T> void free_global(global_ptr<T> p) {
    if (p) detail::free_global(p.address());
}

// One allocation in global memory.
struct global_allocation {
    std::uint64_t address; // as global_ptr::address() says
    std::uint64_t bytes;   // how many it has
    int owner;             // the place that has allocated it
};
// What is allocated at the moment, by all places; by address. TULLE_GLOBAL_REPORT=1 prints what is
// left at the end.
[[nodiscard]] TULLE_API std::vector<global_allocation> global_allocations();

// --- reading and writing -------------------------------------------------------------------------

// Copies objects from global memory, or to it. They may lie at several places: these are asked at
// the same time. No objects: nothing.
// Memory ordering: what was written before by the same thread is seen; others' writes as with plain
// memory, if what has happened is ordered by calls, messages or atomic operations. When write()
// returns the objects are there.
template <global_object T>
void read(global_ptr<T> source, std::span<std::remove_const_t<T>> target) {
    if (!target.empty()) detail::read_global(target.data(), source.address(), target.size_bytes());
}
template <global_object T> void write(std::span<T const> source, global_ptr<T> target) {
    if (!source.empty()) detail::write_global(source.data(), target.address(), source.size_bytes());
}
// read() and write() that do not wait where messages are needed: `source` and `target` must stay
// until the future is ready. Errors: in the future; std::bad_alloc.
template <global_object T>
[[nodiscard]] future<void> read_async(global_ptr<T> source, std::span<T> target) {
    return async([by = detail::memory_here(), source, target] {
        detail::read_global(by, target.data(), source.address(), target.size_bytes());
    });
}
template <global_object T>
[[nodiscard]] future<void> write_async(std::span<T const> source, global_ptr<T> target) {
    return async([by = detail::memory_here(), source, target] {
        detail::write_global(by, source.data(), target.address(), source.size_bytes());
    });
}

// --- atomic operations ---------------------------------------------------------------------------

namespace detail {

template <class T> std::uint64_t word_of(T value) noexcept {
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<std::uint32_t>(value);
    else
        return std::bit_cast<std::uint64_t>(value);
}
template <class T> T value_of(std::uint64_t word) noexcept {
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<T>(static_cast<std::uint32_t>(word));
    else
        return std::bit_cast<T>(word);
}

// Atomic operations need a word that is aligned to its size, whatever the ABI says.
template <class T> T* reach_word(global_ptr<T> p) {
    return static_cast<T*>(reach_global(p.address(), sizeof(T), sizeof(T)));
}
template <class T> T change(global_change operation, global_ptr<T> p, T value, T expected) {
    return value_of<T>(
        change_global(operation, p.address(), sizeof(T), word_of(value), word_of(expected)));
}

} // namespace detail

// On words of 4 or 8 bytes; atomic for all places, by whatever way they come. Return what was there
// before.
// Memory ordering: sequentially consistent.
template <global_word T>
requires std::is_integral_v<T> T fetch_add(global_ptr<T> p, std::type_identity_t<T> operand) {
    if (T* const here = detail::reach_word(p))
        return std::atomic_ref<T>(*here).fetch_add(operand, std::memory_order_seq_cst);
    return detail::change(detail::global_change::add, p, operand, T{});
}
template <global_word T> T exchange(global_ptr<T> p, std::type_identity_t<T> value) {
    if (T* const here = detail::reach_word(p))
        return std::atomic_ref<T>(*here).exchange(value, std::memory_order_seq_cst);
    return detail::change(detail::global_change::exchange, p, value, T{});
}
// True: it was `expected` and is `desired` now. Else `expected` is what it is.
template <global_word T>
bool compare_exchange(global_ptr<T> p, std::type_identity_t<T>& expected,
                      std::type_identity_t<T> desired) {
    if (T* const here = detail::reach_word(p))
        return std::atomic_ref<T>(*here).compare_exchange_strong(expected, desired,
                                                                 std::memory_order_seq_cst);
    T const before = detail::change(detail::global_change::compare_exchange, p, desired, expected);
    bool const is_done = detail::word_of(before) == detail::word_of(expected);
    expected = before;
    return is_done;
}

// --- arrays --------------------------------------------------------------------------------------

namespace detail {

[[noreturn]] TULLE_COLD inline void refuse_element(std::size_t i, std::size_t size) {
    TULLE_THROW(std::out_of_range("tulle::global_array: element " + std::to_string(i) +
                                  " of an array of " + std::to_string(size)));
}

// What for_each sends. A closure as an argument of another one is not taken for bytes by gcc 12.
template <class F> struct loop_at_place {
    F f;
    template <class Array> void operator()(Array const& whole) const { whole.for_each_here(f); }
};

} // namespace detail

// An array of which block k lies at place k modulo the number of places. A handle: copies mean the
// same array, at any place. free() gives it back, once.
template <global_object T> class global_array {
public:
    global_array() = default; // empty

    // Zeros. Errors: out_of_global_memory, std::bad_alloc; std::invalid_argument: no elements, or
    // blocks of none.
    [[nodiscard]] static global_array allocate(std::size_t size, std::size_t block) {
        global_array made(size, block);
        TULLE_TRY {
            for (place const p : places()) made.allocate_part(p);
        }
        TULLE_CATCH(...) {
            made.free();
            TULLE_RETHROW;
        }
        return made;
    }
    // Gives back an array that nobody uses any more.
    void free() {
        for (global_ptr<T> const part : m_parts) free_global(part);
        *this = {};
    }

    // The number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    // How many elements lie side by side at one place.
    [[nodiscard]] std::size_t block() const noexcept { return m_block; }
    // Of element `i`, less than size(), which is not checked. What follows in the same block
    // follows the pointer, too.
    [[nodiscard]] global_ptr<T> pointer(std::size_t i) const noexcept {
        std::size_t const b = i / m_block;
        return m_parts[b % m_parts.size()] +
               static_cast<std::ptrdiff_t>(b / m_parts.size() * m_block + i % m_block);
    }
    // Reads element `i`. Errors: std::out_of_range: it is not less than size().
    [[nodiscard]] T get(std::size_t i) const { return checked_pointer(i).load(); }
    // Writes element `i`. Errors: std::out_of_range: it is not less than size().
    void set(std::size_t i, T const& value) const { checked_pointer(i).store(value); }

    // f(index, element) for each element, at the place where it lies, by all workers there; returns
    // when all are done. `f` travels (at()).
    // Errors: as finish().
    template <class F> void for_each(F f) const {
        static_assert(detail::travels<F>, "a callable travels to another place if it has no "
                                          "captures, or such as can be copied byte by byte");
        finish([&](activities& all) {
            for (place const p : places()) all.async_at(p, detail::loop_at_place<F>{f}, *this);
        });
    }
    // for_each() for what lies at the caller's place; `f` need not travel.
    template <class F> void for_each_here(F f) const {
        std::size_t const here = static_cast<std::size_t>(tulle::here().index());
        std::size_t const blocks = blocks_of(here);
        if (blocks == 0) return;
        T* const first = m_parts[here].local();
        parallel_for(std::size_t{0}, blocks, [&](std::size_t k) {
            std::size_t const begin = (k * m_parts.size() + here) * m_block;
            std::size_t const end = std::min(begin + m_block, m_size);
            for (std::size_t i = begin; i < end; ++i) f(i, first[k * m_block + (i - begin)]);
        });
    }

    // What travels of it (<tulle/wire.hpp>).
    template <class Archive> void serialize(Archive& archive) { archive(m_size, m_block, m_parts); }

private:
    global_array(std::size_t size, std::size_t block)
        : m_size(size), m_block(block), m_parts(static_cast<std::size_t>(place_count())) {
        static_cast<void>(detail::bytes_of_global(size, sizeof(T)));
        static_cast<void>(detail::bytes_of_global(block, sizeof(T)));
    }
    [[nodiscard]] global_ptr<T> checked_pointer(std::size_t i) const {
        if (TULLE_UNLIKELY(i >= m_size)) detail::refuse_element(i, m_size);
        return pointer(i);
    }
    void allocate_part(place there) {
        auto const index = static_cast<std::size_t>(there.index());
        std::size_t const blocks = blocks_of(index);
        if (blocks == 0) return;
        std::size_t const bytes =
            detail::bytes_of_global(blocks, detail::bytes_of_global(m_block, sizeof(T)));
        m_parts[index] = global_ptr<T>::at(detail::allocate_global(bytes, there.index(), true));
    }
    [[nodiscard]] std::size_t blocks_of(std::size_t index) const noexcept {
        std::size_t const all = m_size / m_block + (m_size % m_block != 0 ? 1 : 0);
        return index < all ? (all - index - 1) / m_parts.size() + 1 : 0;
    }

    std::size_t m_size = 0;
    std::size_t m_block = 1;
    std::vector<global_ptr<T>> m_parts; // by place
};

} // namespace tulle
