/* SPDX-License-Identifier: Apache-2.0
 *
 * What the build of Chapel says of the library that it made for its tasks: here, what Tulle is. How
 * to build Chapel with it: docs/compat/chapel.md. */
#ifndef QTHREAD_CHAPEL_H
#define QTHREAD_CHAPEL_H

/* Chapel sets QT_NUM_SHEPHERDS to the number of its threads, and one worker for each. */
#define CHPL_QTHREAD_SCHEDULER_ONE_WORKER_PER_SHEPHERD 1
/* A task may go on on another OS thread after a wait, so nothing of Chapel's is kept by thread. */
#define CHPL_QTHREAD_TASKS_CAN_MIGRATE_THREADS 1
#define CHPL_QTHREAD_HAVE_GUARD_PAGES 1
#define CHPL_QTHREAD_TOPOLOGY_BINDERS 0

#endif
