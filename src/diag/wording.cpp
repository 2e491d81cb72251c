// SPDX-License-Identifier: Apache-2.0
#include "diag/wording.hpp"

#include "sched/names.hpp"

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

phrase name_of(thread_id id) noexcept {
    char name[64];
    if (id == 0) return phrase::make("%s", "a forked thread");
    if (!sched::copy_name(id, name, sizeof name)) return phrase::make("thread %" PRIu64, id);
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

} // namespace

bool is_internal(symbol const& s) noexcept {
    std::string_view const name = without_type(s.function);
    for (std::string_view const hidden :
         {"sched::", "wait::", "sync::", "arch::", "detail::", "diag::", "group::", "compat::"}) {
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

symbol const& site_of(std::span<symbol const> inlined) noexcept {
    auto const is_template = [](symbol const& s) {
        for (std::string_view const header :
             {"tulle/thread.hpp:", "tulle/spawn_group.hpp:", "tulle/future.hpp:"})
            if (s.source_line.find(header) != std::string_view::npos) return true;
        return false;
    };
    for (symbol const& s : inlined) {
        if (!is_template(s)) return s;
    }
    return inlined.back();
}

void print_site(text_output& out, std::span<symbol const> inlined) noexcept {
    symbol const& shown = site_of(inlined);
    out.print("    spawned in %s%s%s\n", shown.function.c_str(),
              shown.source_line.empty() ? "" : " at ", shown.source_line.c_str());
}

} // namespace tulle::diag
