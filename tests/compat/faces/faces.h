/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of several libraries' interfaces in one program. Each face is a file that starts and
 * joins threads by its own calls, and names the calls by which they use what all share. */
#ifndef TULLE_TESTS_FACES_H
#define TULLE_TESTS_FACES_H

#include <stdint.h>

enum { THREADS_OF_EACH = 3 };

struct face {
    char const* name;
    void (*start)(int number); /* take_part(face, number) in a thread of its own */
    void (*join)(int number);
    uint64_t (*read_fe)(uint64_t* word);
    void (*write_ef)(uint64_t* word, uint64_t value);
    void (*lock)(uint64_t* address);
    void (*unlock)(uint64_t* address);
};

void take_part(struct face const* face, int number);

/* Native calls, for faces that have none of their own. */
uint64_t native_read_fe(uint64_t* word);
void native_write_ef(uint64_t* word, uint64_t value);
void native_lock(uint64_t* address);
void native_unlock(uint64_t* address);

/* A face that comes is a file of this folder, and a line here and in together.c. */
extern struct face const face_myth;
extern struct face const face_native;
extern struct face const face_pthread; /* threads that the library has not made */
extern struct face const face_qthread;
extern struct face const face_tnt;

#endif
