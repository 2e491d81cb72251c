// SPDX-License-Identifier: Apache-2.0
#include "compat/tnt/streams.hpp"

#include "compat/program/shared_variables.hpp"
#include "compat/tnt/home_files.hpp"

#include <tnt.h>
#include <tulle/detail/remote.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <system_error>
#include <thread>

#include <ext/stdio_sync_filebuf.h>

namespace tulle::tnt {

namespace {

// For the C library, whose lock of the stream belongs to the caller's OS thread: no other thread of
// the library may run there meanwhile, so another OS thread asks.
ssize_t read_for_stream(void* /*cookie*/, char* buffer, std::size_t size) try {
    std::int64_t got = 0;
    std::thread([&] { got = read_line(TNT_STDIN_FILENO, buffer, size); }).join();
    if (got >= 0) return got;
    errno = static_cast<int>(-got);
    return -1;
} catch (std::system_error const& e) {
    errno = e.code().value();
    return -1;
}

} // namespace

bool is_input_of_home() noexcept {
    char const* const chosen = ::secure_getenv("TULLE_IO"); // NOLINT(concurrency-mt-unsafe)
    return chosen != nullptr && std::strcmp(chosen, "0") == 0 &&
           program::chosen_sharing() != program::sharing::on && detail::is_asked_to_join();
}

void take_input_of_home() {
    static std::ios_base::Init const s_streams;
    std::FILE* const lines =
        fopencookie(nullptr, "r", {&read_for_stream, nullptr, nullptr, nullptr});
    if (lines == nullptr) return; // the input of this node stays
    stdin = lines;
    std::cin.rdbuf(new __gnu_cxx::stdio_sync_filebuf<char>(lines));
}

} // namespace tulle::tnt
