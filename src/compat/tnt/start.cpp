// SPDX-License-Identifier: Apache-2.0
// The start of the nodes. If they are to share the program's variables, or the input of node 0, the
// others join before main: what constructors of the program and main store is stored once then, and
// what main reads is read once.
#include "compat/program/program_data.hpp"
#include "compat/program/shared_variables.hpp"
#include "compat/tnt/streams.hpp"

#include <tnt.h>
#include <tulle/detail/chosen_size.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/place.hpp>
#include <tulle/runtime.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tulle::tnt {

namespace {

bool s_has_begun = false; // before main, and tnt_init has not been called

[[noreturn]] void refuse(std::string const& why) noexcept {
    std::fprintf(stderr, "tulle: tnt: the nodes cannot share variables: %s\n", why.c_str());
    std::abort();
}

bool is_to_share() noexcept {
    return program::chosen_sharing() == program::sharing::on && detail::is_asked_to_join();
}

// Returns at node 0.
void begin() try {
    static_cast<void>(program::program_data::of_process());
    program::prepare();
    char const* const name = program::foreign_function();
    if (program::has_this_library())
        refuse("the program is linked with static libraries of Tulle: "
               "link the shared ones instead");
    if (name != nullptr)
        refuse(std::string("the program has ") + name +
               " in itself, linked statically, and its variables would be shared: link shared "
               "libraries instead");
    tulle::initialize();
    if (std::string const wrong = program::share_variables(place_count()); !wrong.empty())
        refuse(wrong);
} catch (std::exception const& e) {
    refuse(e.what());
}

void begin_with_input_of_home() {
    take_input_of_home();
    tulle::initialize();
}

void begin_with_input_before_main() noexcept try {
    begin_with_input_of_home();
} catch (std::exception const& e) {
    std::fprintf(stderr, "tulle: tnt: the nodes do not start: %s\n", e.what());
    std::abort();
}

// Of the shared library; with the static one it is tnt_init that refuses to share variables.
[[gnu::constructor]] void begin_before_main() {
    if (program::has_this_library()) return;
    if (is_to_share())
        begin();
    else if (is_input_of_home())
        begin_with_input_before_main();
    else
        return;
    s_has_begun = true;
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;
namespace detail = tulle::detail;

int tnt_init(size_t shared_bytes) try {
    if (s_has_begun) {
        s_has_begun = false;
        return shared_bytes <= detail::chosen_size(detail::size_option::global_memory) ? 0 : ENOMEM;
    }
    if (tulle::is_initialized()) return EALREADY;
    if (shared_bytes != 0) tulle::set_option("global_memory", std::to_string(shared_bytes));
    if (is_to_share())
        begin();
    else if (is_input_of_home())
        begin_with_input_of_home();
    else
        tulle::initialize();
    return 0;
} catch (std::invalid_argument const&) {
    return EINVAL;
} catch (std::bad_alloc const&) {
    return ENOMEM;
} catch (std::system_error const& e) {
    return e.code().value();
}
