// SPDX-License-Identifier: Apache-2.0
// The memory of one host for the protocol: its copy, states and twins, and by way of a file that
// all of them map, the copies and logs of the others. Hosts are processes of one machine here, each
// with a copy of its own.
#pragma once

#include "base/atomic.hpp"
#include "dsm/mapped_list.hpp"
#include "dsm/shared_file.hpp"
#include "dsm/words.hpp"
#include "os/fixed_range.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>

namespace tulle::dsm {

// A World of the protocol. The lengths are those of logs.
template <std::size_t Notices, std::size_t Fetches> class basic_host_memory {
    using file = basic_shared_file<Notices, Fetches>;

public:
    using machine = base::machine;
    template <class T> using list = mapped_list<T>;

    // `descriptor`: of a file of file::size() bytes, zeros at first; it may be closed afterwards.
    // `own_copy_at`: the address of the own copy, 0: anywhere. `states`: that of the first line.
    // Throws std::bad_alloc, std::system_error: a range cannot be mapped.
    basic_host_memory(geometry const& chosen, host_number here, int descriptor,
                      std::uint64_t own_copy_at, std::uint8_t* states)
        : m_chosen(chosen),
          m_file(chosen),
          m_here(here),
          m_states(states),
          m_control(mapped(0, m_file.copies(), descriptor, 0)),
          m_own(mapped(own_copy_at, chosen.bytes, descriptor, m_file.copy_of(here))),
          m_all(mapped(0, chosen.hosts * chosen.bytes, descriptor, m_file.copies())),
          m_twins(mapped(0, chosen.bytes)),
          m_marks(mapped(0, chosen.lines() * sizeof(std::uint32_t))),
          m_homes(m_file.homes_at(m_control.low())) {}

    [[nodiscard]] geometry const& chosen() const noexcept { return m_chosen; }
    [[nodiscard]] typename file::head& head() noexcept { return file::head_at(m_control.low()); }
    [[nodiscard]] used_chunks chunks() noexcept { return m_file.chunks_at(m_control.low()); }
    [[nodiscard]] std::byte* copy_at(host_number host, line_number line) noexcept {
        return m_all.low() + host * m_chosen.bytes + offset_of(line);
    }
    [[nodiscard]] std::byte* own_at(line_number line) noexcept {
        return m_own.low() + offset_of(line);
    }

    // --- what the protocol asks for
    [[nodiscard]] host_number here() const noexcept { return m_here; }
    [[nodiscard]] host_number hosts() const noexcept { return m_chosen.hosts; }
    [[nodiscard]] line_range unit_of(line_number line) const noexcept {
        return {line & ~(m_chosen.lines_of_unit - 1), m_chosen.lines_of_unit};
    }
    [[nodiscard]] std::atomic<std::uint8_t>& home_of(line_number line) noexcept {
        return m_homes[line - m_chosen.first_line()];
    }
    [[nodiscard]] typename file::notice_log& notices_of(host_number writer) noexcept {
        return m_file.notices_at(m_control.low(), writer);
    }
    [[nodiscard]] typename file::fetch_log& fetches_of(host_number reader,
                                                       host_number home) noexcept {
        return m_file.fetches_at(m_control.low(), reader, home);
    }
    [[nodiscard]] std::uint8_t state_of(line_number line) const noexcept {
        return m_states[line - m_chosen.first_line()];
    }
    void set_states(line_range lines, std::uint8_t state) noexcept {
        fill_bytes(m_states + (lines.first - m_chosen.first_line()), state, lines.count);
    }
    [[nodiscard]] std::uint32_t& mark_of(line_number line) noexcept {
        return reinterpret_cast<std::uint32_t*>(m_marks.low())[line - m_chosen.first_line()];
    }
    template <class F> void each_unit(F f) {
        std::uint32_t seen = 0;
        chunks().read(seen, [&](line_range chunk) {
            for (line_range unit = unit_of(chunk.first); unit.first < chunk.end();
                 unit = unit_of(unit.end()))
                f(unit);
        });
    }
    template <class T> [[nodiscard]] list<T> make_list() const {
        return list<T>(m_chosen.lines() / m_chosen.lines_of_unit);
    }

    // What comes between costs little more than what is waited for.
    void expect_fetch(host_number home, line_range lines) noexcept {
        std::byte const* const from = copy_at(home, lines.first);
        std::byte const* const to = own_at(lines.first);
        std::size_t const bytes = std::min(bytes_of(lines), k_expected);
        for (std::size_t k = 0; k < bytes; k += TULLE_COHERENT_LINE) {
            __builtin_prefetch(from + k);
            __builtin_prefetch(to + k, 1);
        }
    }
    void fetch(host_number home, line_range lines) noexcept {
        copy_words(own_at(lines.first), copy_at(home, lines.first), bytes_of(lines));
    }
    void keep_twin(line_range unit, std::size_t twin) noexcept {
        copy_words(twin_at(twin), own_at(unit.first), bytes_of(unit));
    }
    [[nodiscard]] bool write_back(host_number home, line_range unit, std::size_t twin) noexcept {
        return copy_differing(copy_at(home, unit.first), own_at(unit.first), twin_at(twin),
                              bytes_of(unit));
    }
    void take_over(host_number home, line_range unit, std::size_t twin) noexcept {
        copy_differing_too(own_at(unit.first), copy_at(home, unit.first), twin_at(twin),
                           bytes_of(unit));
    }

private:
    static constexpr std::size_t k_expected = 512;

    [[noreturn]] static void fail() {
        if (errno == ENOMEM) throw std::bad_alloc();
        throw std::system_error(errno, std::generic_category(), "coherent memory");
    }
    [[nodiscard]] static os::fixed_range mapped(std::uint64_t at, std::uint64_t bytes) {
        os::fixed_range made = os::fixed_range::reserve(at, bytes);
        if (!made.is_valid() || !made.fill(0, bytes)) fail();
        return made;
    }
    [[nodiscard]] static os::fixed_range mapped(std::uint64_t at, std::uint64_t bytes,
                                                int descriptor, std::uint64_t offset) {
        os::fixed_range made = os::fixed_range::reserve(at, bytes);
        if (!made.is_valid() || !made.fill_from(descriptor, 0, bytes, offset)) fail();
        return made;
    }
    [[nodiscard]] std::uint64_t offset_of(line_number line) const noexcept {
        return (line - m_chosen.first_line()) * TULLE_COHERENT_LINE;
    }
    [[nodiscard]] static std::size_t bytes_of(line_range lines) noexcept {
        return lines.count * TULLE_COHERENT_LINE;
    }
    [[nodiscard]] std::byte* twin_at(std::size_t twin) noexcept {
        return m_twins.low() + twin * m_chosen.unit_bytes();
    }

    geometry m_chosen;
    file m_file;
    host_number m_here;
    std::uint8_t* m_states;
    os::fixed_range m_control; // what is in front of the copies
    os::fixed_range m_own;
    os::fixed_range m_all; // copies
    os::fixed_range m_twins;
    os::fixed_range m_marks;
    std::atomic<std::uint8_t>* m_homes;
};

} // namespace tulle::dsm
