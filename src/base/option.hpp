// SPDX-License-Identifier: Apache-2.0
// The table of run-time options: the only tuning knobs there are. The runtime object owns one
// table; it is filled before workers start and only read afterwards. A value that makes no sense is
// refused with a sentence and leaves the option as it was; nothing here prints or aborts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::base {

enum class option_id : std::uint8_t {
    workers,
    max_workers,
    stack_size,
    guard,
    shepherds,
    spin_us,
    seed,
    max_stacks,
    max_unstarted,
    deadlock,
    deadlock_ms,
    stack_report,
    explain,
    global_memory,
    global_group,
    global_algorithm,
    global_report,
    global_low,
    share_globals,
    coherent,
    coherent_unit,
    coherent_large_unit,
    race_reports,
    race_exit_code,
    on_place_death,
    reserve_cpu,
    check,
    share_cpus,
    max_substitutes,
    main_moves,
    start_timeout,
    host_timeout,
    memory_places,
    io
};
inline constexpr std::size_t k_option_count = 34;

// More workers than this are a slip of the pen.
inline constexpr std::uint64_t k_most_workers = 4096;

enum class option_source : std::uint8_t { built_in, environment, command_line, api };
[[nodiscard]] char const* text(option_source source) noexcept;

// Choices of the option `guard`, in the order of its words.
inline constexpr std::uint64_t k_guard_auto = 0;
inline constexpr std::uint64_t k_guard_install = 1;
inline constexpr std::uint64_t k_guard_mprotect = 2;
inline constexpr std::uint64_t k_guard_none = 3;

// Choices of the option `deadlock`, in the order of its words.
inline constexpr std::uint64_t k_deadlock_off = 0;
inline constexpr std::uint64_t k_deadlock_warn = 1;
inline constexpr std::uint64_t k_deadlock_abort = 2;

// One of the choices of the option `share_globals`, in the order of its words.
inline constexpr std::uint64_t k_share_globals_on = 2;

// Choices of the option `coherent`, in the order of its words.
inline constexpr std::uint64_t k_coherent_off = 0;
inline constexpr std::uint64_t k_coherent_pages = 2;

// One of the choices of the option `io`, in the order of its words.
inline constexpr std::uint64_t k_io_of_place_0 = 1;

// Choices of the option `on_place_death`, in the order of its words.
inline constexpr std::uint64_t k_on_place_death_end = 0;
inline constexpr std::uint64_t k_on_place_death_throw = 1;

// What an option holds: a count, a size in bytes, or the index of a word among its choices. `auto`
// counts as 0.
struct option_value {
    std::uint64_t number = 0;
    option_source source = option_source::built_in;
};

// One row of `tulle info`.
struct option_row {
    std::string name;
    std::string default_value;
    std::string unit; // "bytes", "us", ... or the choices
    std::string sentence;
    std::string value;
    option_source source;
};

// Why a value was refused, in a sentence for the user; empty when it was taken.
using option_error = std::optional<std::string>;

// A variable of the environment whose value makes no sense.
struct refused_variable {
    std::string error; // begins with its name
    std::string taken; // the value that the option has instead
};

class option_table {
public:
    option_table() noexcept;

    [[nodiscard]] option_value get(option_id id) const noexcept {
        return m_values[static_cast<std::size_t>(id)];
    }
    [[nodiscard]] std::uint64_t number(option_id id) const noexcept { return get(id).number; }

    // Sets an option from text: digits, for sizes with a suffix K, M or G (powers of 1024), `auto`,
    // or one of the option's words.
    [[nodiscard]] option_error set(std::string_view name, std::string_view value,
                                   option_source source);
    [[nodiscard]] option_error set(option_id id, std::uint64_t number, option_source source);

    // Sets an option from "name=value", as on a command line.
    [[nodiscard]] option_error set_assignment(std::string_view assignment, option_source source);

    // Reads TULLE_<NAME> for every option through `lookup` (getenv by default); says what was
    // refused.
    [[nodiscard]] std::vector<refused_variable>
    read_environment(char const* (*lookup)(char const* name) = nullptr);

    [[nodiscard]] std::vector<option_row> list() const;

private:
    std::array<option_value, k_option_count> m_values;
};

} // namespace tulle::base
