// SPDX-License-Identifier: Apache-2.0
// Streams of the C library, whose descriptors it closes by itself: the reactor may know the file by
// its number, which is another file's soon.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "io/reactor.hpp"

#include <cstdio>

namespace tulle::posix {

namespace {

// Around a call that closes a stream. Who has got the number for a new file meanwhile, and waits
// for it, waits anew.
class closing_stream {
public:
    explicit closing_stream(FILE* stream) noexcept {
        kept_errno const kept;
        if (stream != nullptr) m_number = fileno(stream);
        known_descriptors::forget(m_number);
    }
    closing_stream(closing_stream const&) = delete;
    closing_stream& operator=(closing_stream const&) = delete;
    ~closing_stream() {
        kept_errno const kept;
        if (is_started() && !vfork_children::has_caller())
            io::reactor::instance().expect_new(m_number);
    }

private:
    int m_number = -1;
};

} // namespace

} // namespace tulle::posix

using namespace tulle::posix;

// What the program does with the descriptor by the stream nobody tells.
TULLE_INTERPOSE FILE* fdopen(int number, char const* mode) noexcept {
    known_descriptors::forget(number);
    return TULLE_LIBC(fdopen)(number, mode);
}

TULLE_INTERPOSE int fclose(FILE* stream) {
    closing_stream const around(stream);
    return TULLE_LIBC(fclose)(stream);
}

TULLE_INTERPOSE int pclose(FILE* stream) {
    closing_stream const around(stream);
    return TULLE_LIBC(pclose)(stream);
}

TULLE_INTERPOSE FILE* freopen(char const* path, char const* mode, FILE* stream) {
    closing_stream const around(stream);
    return TULLE_LIBC(freopen)(path, mode, stream);
}

TULLE_INTERPOSE FILE* freopen64(char const* path, char const* mode, FILE* stream) {
    closing_stream const around(stream);
    return TULLE_LIBC(freopen64)(path, mode, stream);
}
