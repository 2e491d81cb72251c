// SPDX-License-Identifier: Apache-2.0
// A library with variables of threads that is loaded late, so that each thread's are made at their
// first use; or, where it is compiled for the model initial-exec and has few of them, when the
// thread is made.
int* late_number(void);
char* late_room(void);
int late_bytes(void);

static __thread int t_number = 11;
static __thread char t_room[ROOM];

int* late_number(void) { return &t_number; }
char* late_room(void) { return t_room; }
int late_bytes(void) { return sizeof t_room; }
