// SPDX-License-Identifier: Apache-2.0
// Calls that never wait, and are passed on to the C library: what a call on a socket need not ask
// at each wait comes of these (known_descriptors.hpp).
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/known_descriptors.hpp"

#include <cstdarg>

using tulle::posix::known_descriptors;

TULLE_INTERPOSE int socket(int family, int type, int protocol) noexcept {
    known_descriptors::making const all(type);
    int const number = TULLE_LIBC(socket)(family, type, protocol);
    all.made(number);
    return number;
}

TULLE_INTERPOSE int socketpair(int family, int type, int protocol, int* numbers) noexcept {
    known_descriptors::making const all(type);
    int const error = TULLE_LIBC(socketpair)(family, type, protocol, numbers);
    if (error != 0) return error;
    all.made(numbers[0]);
    all.made(numbers[1]);
    return 0;
}

// After the call, here and below: who asks the system meanwhile and finds what was before must not
// keep that.
TULLE_INTERPOSE int setsockopt(int socket, int level, int name, void const* value,
                               socklen_t size) noexcept {
    int const error = TULLE_LIBC(setsockopt)(socket, level, name, value, size);
    // The limits have two names each, by the size of a time.
    if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO ||
                                name == SO_RCVTIMEO_NEW || name == SO_SNDTIMEO_NEW))
        known_descriptors::note_change();
    if (level == SOL_SOCKET && name == SO_RCVLOWAT) known_descriptors::note_low_mark();
    return error;
}

TULLE_INTERPOSE int ioctl(int number, unsigned long request, ...) noexcept {
    std::va_list list;
    va_start(list, request);
    void* const argument = va_arg(list, void*);
    va_end(list);
    int const result = TULLE_LIBC(ioctl)(number, request, argument);
    if (request == FIONBIO) known_descriptors::note_change();
    return result;
}
