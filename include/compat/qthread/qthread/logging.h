/* SPDX-License-Identifier: Apache-2.0 */
/* Lines to the standard output, by groups that are constants: 1 is printed, 0 costs nothing. */
#ifndef QTHREAD_LOGGING_H
#define QTHREAD_LOGGING_H

#include <stdio.h>

#define INNERSTRING(x) #x
#define STRING(x) INNERSTRING(x)

#ifndef LOGERR
#define LOGERR 1
#endif
#ifndef LOGWARN
#define LOGWARN 1
#endif

#define qtlog(group, s)                                                                            \
    do {                                                                                           \
        if (group) printf("(" #group ") " __FILE__ ":" STRING(__LINE__) ": " s "\n");              \
    } while (0)
#define qtlogargs(group, s, ...)                                                                   \
    do {                                                                                           \
        if (group) printf("(" #group ") " __FILE__ ":" STRING(__LINE__) ": " s "\n", __VA_ARGS__); \
    } while (0)

#endif
