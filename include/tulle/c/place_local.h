/* SPDX-License-Identifier: Apache-2.0 */
/* An object of which each place has its own (<tulle/place_local.hpp>) in C, for C11 and C++20. With
 * one place all of this works, too.
 * -EINVAL: a null pointer. -ENOENT: a function is in no program or library, or another place does
 * not have it. -EHOSTDOWN: a place has died.
 * -ENOMEM. -EREMOTEIO: an exception of C++ has left a function, and stands for no other number.
 * Source: PlaceLocalHandle of X10. */
#ifndef TULLE_DETAIL_PLACE_LOCAL_H
#define TULLE_DETAIL_PLACE_LOCAL_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies name the same objects; its bytes travel. */
typedef struct {
    uint64_t name; /* of all of them */
} tulle_place_local_t;

/* Calls `make` at each place with a copy of the argument; what it returns is the object there.
 * Null: there is no memory for it. If that fails anywhere there is none, and `destroy` was called
 * with each that was made; it may be null. */
TULLE_API int tulle_place_local_create(tulle_place_local_t* out,
                                       void* (*make)(const void* argument, size_t size),
                                       void (*destroy)(void* object), const void* argument,
                                       size_t size);
/* That of the caller's place. Null: there is none any more. */
TULLE_API void* tulle_place_local_get(tulle_place_local_t objects);
/* At all places, with the `destroy` that they were made with. Nobody may be using them. */
TULLE_API int tulle_place_local_destroy(tulle_place_local_t objects);

#ifdef __cplusplus
}
#endif

#endif
