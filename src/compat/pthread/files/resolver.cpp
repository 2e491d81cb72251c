// SPDX-License-Identifier: Apache-2.0
// Calls of the resolver, which asks servers: a helper OS thread makes them.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/helper_calls.hpp"

using namespace tulle::posix;

TULLE_INTERPOSE int getaddrinfo(char const* host, char const* service, addrinfo const* hints,
                                addrinfo** found) {
    return blocking_call([=] { return TULLE_LIBC(getaddrinfo)(host, service, hints, found); });
}

TULLE_INTERPOSE int getnameinfo(sockaddr const* address, socklen_t length, char* host,
                                socklen_t host_room, char* service, socklen_t service_room,
                                int flags) {
    return blocking_call([=] {
        return TULLE_LIBC(getnameinfo)(address, length, host, host_room, service, service_room,
                                       flags);
    });
}
TULLE_INTERPOSE hostent* gethostbyname(char const* name) {
    return blocking_call([=] { return TULLE_LIBC(gethostbyname)(name); });
}
TULLE_INTERPOSE hostent* gethostbyname2(char const* name, int family) {
    return blocking_call([=] { return TULLE_LIBC(gethostbyname2)(name, family); });
}
TULLE_INTERPOSE hostent* gethostbyaddr(void const* address, socklen_t length, int family) {
    return blocking_call([=] { return TULLE_LIBC(gethostbyaddr)(address, length, family); });
}
TULLE_INTERPOSE int gethostbyname_r(char const* name, hostent* host, char* buffer, size_t room,
                                    hostent** found, int* error) {
    return blocking_call(
        [=] { return TULLE_LIBC(gethostbyname_r)(name, host, buffer, room, found, error); });
}
TULLE_INTERPOSE int gethostbyname2_r(char const* name, int family, hostent* host, char* buffer,
                                     size_t room, hostent** found, int* error) {
    return blocking_call([=] {
        return TULLE_LIBC(gethostbyname2_r)(name, family, host, buffer, room, found, error);
    });
}
TULLE_INTERPOSE int gethostbyaddr_r(void const* address, socklen_t length, int family,
                                    hostent* host, char* buffer, size_t room, hostent** found,
                                    int* error) {
    return blocking_call([=] {
        return TULLE_LIBC(gethostbyaddr_r)(address, length, family, host, buffer, room, found,
                                           error);
    });
}
