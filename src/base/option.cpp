// SPDX-License-Identifier: Apache-2.0
#include "base/option.hpp"

#include "base/nearest_word.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>

namespace tulle::base {
namespace {

enum class value_kind : std::uint8_t { number, bytes, word };

constexpr std::size_t k_most_words = 4;

struct option_definition {
    char const* name;
    char const* unit;
    char const* sentence;
    value_kind kind;
    std::uint64_t initial;
    std::uint64_t least;
    std::uint64_t most;
    char const* zero_text; // what 0 is called, for options where it means "choose"; else nullptr
    std::array<std::string_view, k_most_words> words;
};

constexpr std::uint64_t k_kibi = 1024;
constexpr std::uint64_t k_most_seconds = 1'000'000;
constexpr std::uint64_t k_most_stacks = std::uint64_t{1} << 40U;

constexpr std::array<option_definition, k_option_count> k_definitions{{
    {"workers",
     "threads",
     "OS threads that run threads; auto: one per CPU that the process may use.",
     value_kind::number,
     0,
     0,
     k_most_workers,
     "auto",
     {}},
    {"max_workers",
     "threads",
     "Workers that there may be after a change at run time; auto: one per CPU of the machine.",
     value_kind::number,
     0,
     0,
     k_most_workers,
     "auto",
     {}},
    {"stack_size",
     "bytes",
     "Size of a stack, without its guard; rounded up to a power of two, 1K is compact.",
     value_kind::bytes,
     256 * k_kibi,
     k_kibi,
     k_kibi* k_kibi* k_kibi,
     nullptr,
     {}},
    {"guard",
     "auto|install|mprotect|none",
     "What stops a stack from growing into its neighbour.",
     value_kind::word,
     k_guard_auto,
     k_guard_auto,
     k_guard_none,
     nullptr,
     {"auto", "install", "mprotect", "none"}},
    {"shepherds",
     "groups",
     "Groups of workers that share a locality domain; auto: as the machine is built.",
     value_kind::number,
     0,
     0,
     k_most_workers,
     "auto",
     {}},
    {"spin_us",
     "us",
     "How long an idle worker looks for work before it sleeps.",
     value_kind::number,
     20,
     0,
     1'000'000,
     nullptr,
     {}},
    {"seed",
     "number",
     "Not off: a deterministic run of one worker; the seed decides each choice, and time is "
     "virtual.",
     value_kind::number,
     0,
     0,
     UINT64_MAX,
     "off",
     {}},
    {"max_stacks",
     "stacks",
     "Stacks at a time, at least three for each worker; auto: as many as memory allows.",
     value_kind::number,
     0,
     0,
     k_most_stacks,
     "auto",
     {}},
    {"max_unstarted",
     "threads",
     "Spawned threads that have not started, in each queue; a spawner that is ahead of them by "
     "more runs or waits before it goes on.",
     value_kind::number,
     1'048'576,
     1,
     UINT32_MAX,
     nullptr,
     {}},
    {"deadlock",
     "off|warn|abort",
     "What is done when all threads are blocked for good; off: SIGQUIT is left alone, too.",
     value_kind::word,
     k_deadlock_abort,
     k_deadlock_off,
     k_deadlock_abort,
     nullptr,
     {"off", "warn", "abort"}},
    {"deadlock_ms",
     "ms",
     "How long nothing may have moved before the first search whether all threads are blocked for "
     "good; later searches are rarer.",
     value_kind::number,
     1000,
     1,
     3'600'000,
     nullptr,
     {}},
    {"stack_report",
     "0|1",
     "1: at the end, how much of their stacks threads have used, by where they were spawned.",
     value_kind::number,
     0,
     0,
     1,
     nullptr,
     {}},
    {"explain",
     "0|1",
     "1: at the end, which calls have kept workers from their threads, and which threads of the "
     "program the operating system runs.",
     value_kind::number,
     0,
     0,
     1,
     nullptr,
     {}},
    {"global_memory",
     "bytes",
     "Global memory, in equal parts at all places; addresses only, pages take memory when they are "
     "used.",
     value_kind::bytes,
     16 * k_kibi* k_kibi* k_kibi,
     64 * k_kibi,
     k_kibi* k_kibi* k_kibi* k_kibi,
     nullptr,
     {}},
    {"global_group",
     "places",
     "Places whose global memory is managed together, by the first of them; all: one group.",
     value_kind::number,
     0,
     0,
     k_most_workers,
     "all",
     {}},
    {"global_algorithm",
     "first_fit|best_fit|buddy|round_robin",
     "How room is found in global memory; round_robin: at one place of the group after the other.",
     value_kind::word,
     0,
     0,
     3,
     nullptr,
     {"first_fit", "best_fit", "buddy", "round_robin"}},
    {"global_report",
     "0|1",
     "1: at the end, what of global memory has not been freed, and which place had allocated it.",
     value_kind::number,
     0,
     0,
     1,
     nullptr,
     {}},
    {"global_low",
     "0|1",
     "1: global memory has addresses below 4 GiB, for programs that keep them in 32 bits.",
     value_kind::number,
     0,
     0,
     1,
     nullptr,
     {}},
    {"share_globals",
     "auto|off|on",
     "on: all places of a host have the global variables of a program for TNT or PARMACS in "
     "common; auto: from the first CREATE(f, n) of PARMACS on.",
     value_kind::word,
     0,
     0,
     2,
     nullptr,
     {"auto", "off", "on"}},
    {"coherent",
     "off|private|pages",
     "private: each place has a copy of its own of the memory that a program compiled by tulle cc "
     "for PARMACS allocates, as if each were on a host of its own, where it has one anyway; pages: "
     "the same for programs that another compiler has compiled, by the protection of pages.",
     value_kind::word,
     0,
     0,
     2,
     nullptr,
     {"off", "private", "pages"}},
    {"coherent_unit",
     "bytes",
     "What of coherent memory is copied at once, a power of two; small where several write side by "
     "side.",
     value_kind::bytes,
     256,
     64,
     4096,
     nullptr,
     {}},
    {"coherent_large_unit",
     "bytes",
     "The same for allocations of a mebibyte or more; same: as others.",
     value_kind::bytes,
     0,
     0,
     4096,
     "same",
     {}},
    {"race_reports",
     "races",
     "How many data races are told, at most, of a program compiled by tulle cc --scheme=races.",
     value_kind::number,
     20,
     0,
     1'000'000,
     nullptr,
     {}},
    {"race_exit_code",
     "status",
     "With what such a program exits if data races were found; own: as without.",
     value_kind::number,
     66,
     0,
     255,
     "own",
     {}},
    {"on_place_death",
     "end|throw",
     "When a place dies: the program ends, or the others go on, and what needed it throws "
     "dead_place.",
     value_kind::word,
     k_on_place_death_end,
     k_on_place_death_end,
     k_on_place_death_throw,
     nullptr,
     {"end", "throw"}},
    {"reserve_cpu",
     "CPU",
     "Of those that the process may use, counted from 1, the one that is kept for messages of "
     "other places and for what is not Tulle's.",
     value_kind::number,
     0,
     0,
     k_most_workers,
     "off",
     {}},
    {"check",
     "0|1",
     "1: arguments and results that go to other places are searched for addresses of this one, "
     "which mean nothing there.",
     value_kind::number,
     0,
     0,
     1,
     nullptr,
     {}},
    {"share_cpus",
     "0|1",
     "1: the user's programs that say so divide the processors of the machine among them; `tulle "
     "cpus` shows how.",
     value_kind::number,
     0,
     0,
     1,
     nullptr,
     {}},
    {"max_substitutes",
     "threads",
     "Workers besides, at most, that run in place of those that sit in the kernel or, up to 64, "
     "compute while others wait; off: nobody looks.",
     value_kind::number,
     64,
     0,
     k_most_workers,
     "off",
     {}},
    {"main_moves",
     "0|1",
     "1: main goes on on another OS thread when its own is stuck with another thread; thread-local "
     "variables are then the other one's.",
     value_kind::number,
     1,
     0,
     1,
     nullptr,
     {}},
    {"start_timeout",
     "s",
     "How long `tulle run --hosts` waits for the places to be started; off: for ever.",
     value_kind::number,
     60,
     0,
     k_most_seconds,
     "off",
     {}},
    {"host_timeout",
     "s",
     "Of several hosts, one that has been silent for so long counts as dead, with its places; off: "
     "none does.",
     value_kind::number,
     10,
     0,
     k_most_seconds,
     "off",
     {}},
    {"memory_places",
     "places",
     "So many places, the last ones, have memory for the others and run no threads of the program.",
     value_kind::number,
     0,
     0,
     k_most_workers,
     nullptr,
     {}},
    {"io",
     "own|0",
     "0: all places read the input of place 0, whoever asks, and what they print comes in whole "
     "lines without tags.",
     value_kind::word,
     0,
     0,
     k_io_of_place_0,
     nullptr,
     {"own", "0"}},
}};

option_definition const& definition_of(option_id id) noexcept {
    return k_definitions[static_cast<std::size_t>(id)];
}

std::optional<option_id> find(std::string_view name) noexcept {
    for (std::size_t i = 0; i < k_option_count; ++i) {
        if (name == k_definitions[i].name) {
            return static_cast<option_id>(i);
        }
    }
    return std::nullopt;
}

// 1024 for K and so on, 1 for no suffix, 0 for any other rest.
std::uint64_t suffix_factor(std::string_view suffix) noexcept {
    if (suffix.empty()) {
        return 1;
    }
    constexpr std::string_view k_letters = "KMG";
    auto const upper = static_cast<char>(suffix[0] >= 'a' ? suffix[0] - ('a' - 'A') : suffix[0]);
    auto const power = k_letters.find(upper);
    if (suffix.size() > 1 || power == std::string_view::npos) {
        return 0;
    }
    return std::uint64_t{1} << (10 * (power + 1));
}

std::optional<std::uint64_t> parse_number(std::string_view value, bool suffixes) noexcept {
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    std::string_view const rest = value.substr(static_cast<std::size_t>(end - value.data()));
    if (error != std::errc{} || (!suffixes && !rest.empty())) {
        return std::nullopt;
    }
    std::uint64_t const factor = suffix_factor(rest);
    if (factor == 0 || number > UINT64_MAX / factor) {
        return std::nullopt;
    }
    return number * factor;
}

std::optional<std::uint64_t> parse(option_definition const& definition,
                                   std::string_view value) noexcept {
    if (definition.kind == value_kind::word) {
        auto const* const found =
            std::find(definition.words.begin(), definition.words.end(), value);
        if (value.empty() || found == definition.words.end()) {
            return std::nullopt;
        }
        return static_cast<std::uint64_t>(found - definition.words.begin());
    }
    if (definition.zero_text != nullptr && value == definition.zero_text) {
        return 0;
    }
    return parse_number(value, definition.kind == value_kind::bytes);
}

std::string format(option_definition const& definition, std::uint64_t number) {
    if (definition.kind == value_kind::word) {
        return std::string(definition.words[static_cast<std::size_t>(number)]);
    }
    if (definition.zero_text != nullptr && number == 0) {
        return definition.zero_text;
    }
    return std::to_string(number);
}

std::string join(std::initializer_list<std::string_view> parts) {
    std::string whole;
    for (std::string_view const part : parts) {
        whole.append(part);
    }
    return whole;
}

std::string refusal(option_definition const& definition, std::string_view value) {
    std::string const head = join({"option ", definition.name, ": '", value, "' is "});
    if (definition.kind == value_kind::word) {
        return join({head, "none of ", definition.unit});
    }
    return join({head, "not a number from ", std::to_string(definition.least), " to ",
                 std::to_string(definition.most),
                 definition.kind == value_kind::bytes ? " (bytes; suffixes K, M, G)" : "",
                 definition.zero_text != nullptr ? " or " : "",
                 definition.zero_text != nullptr ? definition.zero_text : ""});
}

std::vector<std::string> known_names() {
    std::vector<std::string> names;
    for (option_definition const& definition : k_definitions) names.emplace_back(definition.name);
    return names;
}

std::string environment_name(char const* name) {
    std::string result = "TULLE_";
    for (char const* letter = name; *letter != '\0'; ++letter) {
        result +=
            static_cast<char>(*letter >= 'a' && *letter <= 'z' ? *letter - ('a' - 'A') : *letter);
    }
    return result;
}

// Nobody chooses options for a program that has more rights.
char const* from_process_environment(char const* name) { return ::secure_getenv(name); }

} // namespace

char const* text(option_source source) noexcept {
    switch (source) {
        case option_source::built_in: return "default";
        case option_source::environment: return "environment";
        case option_source::command_line: return "command line";
        case option_source::api: break;
    }
    return "api";
}

option_table::option_table() noexcept {
    for (std::size_t i = 0; i < k_option_count; ++i) {
        m_values[i] = {k_definitions[i].initial, option_source::built_in};
    }
}

option_error option_table::set(std::string_view name, std::string_view value,
                               option_source source) {
    auto const id = find(name);
    if (!id) {
        return join({"there is no option '", name, "'; ", did_you_mean(name, known_names()),
                     "`tulle info` lists them"});
    }
    auto const number = parse(definition_of(*id), value);
    if (!number) {
        return refusal(definition_of(*id), value);
    }
    return set(*id, *number, source);
}

option_error option_table::set(option_id id, std::uint64_t number, option_source source) {
    option_definition const& definition = definition_of(id);
    if (number < definition.least || number > definition.most) {
        return refusal(definition, std::to_string(number));
    }
    m_values[static_cast<std::size_t>(id)] = {number, source};
    return std::nullopt;
}

option_error option_table::set_assignment(std::string_view assignment, option_source source) {
    auto const equals = assignment.find('=');
    if (equals == std::string_view::npos) {
        return join({"'", assignment, "' is not of the form option=value"});
    }
    return set(assignment.substr(0, equals), assignment.substr(equals + 1), source);
}

std::vector<refused_variable>
option_table::read_environment(char const* (*lookup)(char const* name)) {
    std::vector<refused_variable> refused;
    for (auto const& definition : k_definitions) {
        std::string const name = environment_name(definition.name);
        char const* const value =
            (lookup != nullptr ? lookup : &from_process_environment)(name.c_str());
        if (value == nullptr) {
            continue;
        }
        if (auto const error = set(definition.name, value, option_source::environment)) {
            refused.push_back(
                {join({name, ": ", *error}), format(definition, number(*find(definition.name)))});
        }
    }
    return refused;
}

std::vector<option_row> option_table::list() const {
    std::vector<option_row> rows;
    for (std::size_t i = 0; i < k_option_count; ++i) {
        auto const& definition = k_definitions[i];
        rows.push_back({definition.name, format(definition, definition.initial), definition.unit,
                        definition.sentence, format(definition, m_values[i].number),
                        m_values[i].source});
    }
    return rows;
}

} // namespace tulle::base
