// SPDX-License-Identifier: Apache-2.0
#include "diag/wording.hpp"

#include "diag/call_frame.hpp"
#include "sched/values/names.hpp"

#include <algorithm>
#include <cinttypes>
#include <string_view>

namespace tulle::diag {

namespace {

// The folder of the library's sources as the compiler was given it, "..src/", which is how debug
// information names them.
constexpr std::string_view source_folder() noexcept {
    std::string_view const here = __FILE__;
    return here.substr(0, here.size() - std::string_view("diag/wording.cpp").size());
}

} // namespace

namespace {

// What a program calls its threads begins no line, and is no command to the terminal.
void make_printable(char* name) noexcept {
    for (char* at = name; *at != '\0'; ++at) {
        auto const byte = static_cast<unsigned char>(*at);
        auto const next = static_cast<unsigned char>(at[1]);
        bool const is_control = byte < 0x20 || byte == 0x7F;
        bool const begins_control = byte == 0xC2 && next >= 0x80 && next < 0xA0; // in UTF-8
        if (is_control || begins_control) *at = '?';
        if (begins_control) at[1] = '?';
    }
}

} // namespace

phrase name_of(thread_id id) noexcept {
    char name[64];
    if (id == 0) return phrase::make("%s", "a forked thread");
    if (!sched::copy_name(id, name, sizeof name)) return phrase::make("thread %" PRIu64, id);
    make_printable(name);
    return phrase::make("thread %" PRIu64 " \"%s\"", id, name);
}

namespace {

// Templates have the type that they return in front of their names.
std::string_view without_type(std::string_view name) noexcept {
    std::size_t const at = name.find("tulle::");
    bool const is_its_scope = at != std::string_view::npos && at > 0 && name[at - 1] == ' ' &&
                              name.find_first_of("(<") > at;
    return is_its_scope ? name.substr(at) : name;
}

// Whether a name is as the linker knows it, scopes and parameters included; what is told of inlined
// functions may be less.
bool is_whole(std::string_view name) noexcept {
    return name.ends_with(')') && name != "operator()";
}

// The first argument of a template, or nothing.
std::string_view first_argument(std::string_view name) noexcept {
    std::size_t const open = name.find('<');
    if (open == std::string_view::npos) return {};
    int depth = 0;
    for (std::size_t k = open; k < name.size(); ++k) {
        if (name[k] == '<') ++depth;
        if (name[k] == '>' && name[k - 1] != '-') --depth;
        bool const ends = depth == 0 || (depth == 1 && name[k] == ',');
        bool const in_parameters =
            std::count(&name[open], &name[k], '(') != std::count(&name[open], &name[k], ')');
        if (ends && !in_parameters) {
            std::string_view const found = name.substr(open + 1, k - open - 1);
            return found.ends_with(' ') ? found.substr(0, found.size() - 1) : found;
        }
    }
    return {};
}

bool is_of_library(symbol const& s) noexcept {
    return s.source_line.find("include/tulle/") != std::string_view::npos ||
           s.source_line.find(source_folder()) != std::string_view::npos;
}

} // namespace

bool is_internal(symbol const& s) noexcept {
    std::string_view const name = without_type(s.function);
    for (std::string_view const hidden : {"sched::", "wait::", "sync::", "arch::", "base::",
                                          "detail::", "diag::", "group::", "compat::", "posix::"}) {
        if (name.starts_with("tulle::") && name.substr(7).starts_with(hidden)) return true;
    }
    if (s.source_line.find("/tulle/detail/") != std::string_view::npos) return true;
    bool const in_header = s.source_line.find("include/tulle/") != std::string_view::npos;
    bool const is_ours = in_header || s.source_line.find(source_folder()) != std::string_view::npos;
    if (in_header && is_whole(name) && !name.starts_with("tulle::"))
        return false; // the user's, and nothing is known of what it has inlined
    if (is_ours) return !name.starts_with("tulle::") && !name.starts_with("tulle_");
    return name == "tulle_context_entry";
}

void print_call(text_output& out, std::size_t number, symbol const& s) noexcept {
    out.print("    #%-2zu %s%s%s\n", number, s.function.c_str(),
              s.source_line.empty() ? "" : " at ", s.source_line.c_str());
}

symbol const& site_of(std::span<symbol const> inlined) noexcept {
    auto const users = std::find_if_not(inlined.begin(), inlined.end(), is_of_library);
    return users != inlined.end() ? *users : inlined.back();
}

void print_site(text_output& out, std::span<symbol const> inlined) noexcept {
    symbol const& shown = site_of(inlined);
    out.print("    spawned in %s%s%s\n", shown.function.c_str(),
              shown.source_line.empty() ? "" : " at ", shown.source_line.c_str());
}

namespace {

// The outermost that is not the library's own is the callable, or what the library has inlined of
// others, which is told by no line.
char const* line_of_callable(std::span<symbol const> inlined) noexcept {
    auto const outermost = std::find_if_not(inlined.rbegin(), inlined.rend(), is_of_library);
    bool const is_users = outermost != inlined.rend() &&
                          outermost->source_line.find("/c++/") == std::string_view::npos;
    return is_users ? outermost->source_line.c_str() : "";
}

// What `act` returns true for, of some addresses of a function; 0: of none.
template <class Act> std::uintptr_t first_address(std::uintptr_t begin, Act act) {
    constexpr std::uintptr_t k_step = 8;
    constexpr std::uintptr_t k_most_bytes = 256; // taking the callable out of the record is less
    for (std::uintptr_t pc = begin; pc < begin + k_most_bytes; pc += k_step) {
        if (pc != begin && !is_in_function(pc, begin)) break;
        if (act(pc)) return pc;
    }
    return 0;
}

// Of a lambda of the library's, the callable that it is for.
std::string_view without_lambda_of_library(std::string_view callable) noexcept {
    bool const is_lambda = callable.find("::{lambda(") != std::string_view::npos ||
                           callable.find("::'lambda") != std::string_view::npos;
    if (!is_lambda || !without_type(callable).starts_with("tulle::")) return callable;
    std::string_view const inner = first_argument(callable);
    return inner.empty() ? callable : inner;
}

} // namespace

void want_runner(symbol_table& symbols, std::uintptr_t begin) {
    static_cast<void>(first_address(begin, [&symbols](std::uintptr_t pc) {
        symbols.want(pc);
        return false;
    }));
}

std::span<symbol const> runner_at(symbol_table const& symbols, std::uintptr_t begin) noexcept {
    std::uintptr_t const found = first_address(
        begin, [&symbols](std::uintptr_t pc) { return *line_of_callable(symbols.at(pc)) != '\0'; });
    return symbols.at(found != 0 ? found : begin);
}

void print_callable(text_output& out, std::span<symbol const> inlined) noexcept {
    std::string_view callable;
    for (symbol const& s : inlined) {
        if (callable.empty() && s.function.starts_with("tulle::"))
            callable = without_lambda_of_library(first_argument(s.function));
    }
    char const* const line = line_of_callable(inlined);
    symbol const& runner = inlined.back();
    bool const is_named = runner.source_line.empty() || runner.function.starts_with("tulle::");
    if (callable.empty() && *line == 0 && is_named) callable = runner.function;
    if (callable.empty() && *line == 0)
        return out.print("forked, and run at %s\n", runner.source_line.c_str());
    out.print("forked%s%.*s%s%s\n", callable.empty() ? "" : " as ",
              static_cast<int>(callable.size()), callable.data(), *line == 0 ? "" : " at ", line);
}

} // namespace tulle::diag
