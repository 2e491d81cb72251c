// SPDX-License-Identifier: Apache-2.0
// A library with variables of threads that is loaded late, so that each thread's are made at their
// first use.
int* late_number(void);
char* late_room(void);

static __thread int t_number = 11;
static __thread char t_room[3000];

int* late_number(void) { return &t_number; }
char* late_room(void) { return t_room; }
