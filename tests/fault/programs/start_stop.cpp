// SPDX-License-Identifier: Apache-2.0
//
// Starts the run time and ends it, from the first call of the process on; options, and one thread
// in between.
#include "inject.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <tulle/tulle.hpp>

namespace {

void initialize() try { tulle::initialize({.workers = 2}); } catch (std::system_error const& e) {
    constexpr std::string_view k_expected = "tulle::initialize: cannot start the workers: ";
    fault::require(e.code().value() != EAGAIN || std::string_view(e.what()).starts_with(k_expected),
                   "the error does not name what cannot be started");
    throw;
}

void body() {
    fault::arm();
    fault::attempt([] { tulle::set_option("spin_us", "20"); }, fault::allows::bad_alloc_too);
    if (!fault::attempt(&initialize)) return;
    int result = 0;
    fault::attempt([&] { result = tulle::spawn([] { return 6 * 7; }).join(); });
    fault::require(result == 42 || result == 0, "a wrong result");
    fault::attempt([] { tulle::finalize(); });
    fault::require(!tulle::is_initialized(), "it has not ended");
}

} // namespace

int main() { return fault::run(&body); }
