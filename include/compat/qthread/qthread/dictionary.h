/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table for many threads at once. Keys and values are pointers; the program says how keys
 * are compared and hashed.
 * put, put_if_absent, get and delete are linearizable. Contexts: any OS thread; the functions given
 * to qt_dictionary_create() may do what any thread may, but must not use the same dictionary.
 * Memory ordering: what happens before a put happens before the return of the get, put_if_absent or
 * delete that finds it. */
#ifndef QT_DICTIONARY_H
#define QT_DICTIONARY_H

#include "macros.h"

#include <inttypes.h>
#include <stdlib.h>

Q_STARTCXX

#define DELETE_SUPPORT
#define ERROR ((void*)(-1))
#define BKT_POW 20
#define NO_BUCKETS (1 << BKT_POW)

/* Nonzero: the keys are equal; such keys must have the same hash. */
typedef int (*qt_dict_key_equals_f)(void*, void*);
typedef int (*qt_dict_hash_f)(void*);
/* Key and value of an entry that goes; the value is NULL where qt_dictionary_delete() returns it.
 */
typedef void (*qt_dict_cleanup_f)(void*, void*);

struct list_entry {
    void* value;
    void* key;
    uint64_t hashed_key;
    struct list_entry* next;
};

typedef struct list_entry list_entry;
typedef struct qt_dictionary qt_dictionary;
typedef struct qt_dictionary_iterator qt_dictionary_iterator;

/* `cleanup` may be NULL. NULL: no memory, or eq or hash is NULL. */
qt_dictionary* qt_dictionary_create(qt_dict_key_equals_f eq, qt_dict_hash_f hash,
                                    qt_dict_cleanup_f cleanup);

/* Calls cleanup(key, value) for each entry that is left. Nobody may use the dictionary meanwhile.
 */
void qt_dictionary_destroy(qt_dictionary* d);

/* The value for the key is `value` from now on; the key of an entry that is there stays. Returns
 * `value`; NULL: no memory. */
void* qt_dictionary_put(qt_dictionary* dict, void* key, void* value);

/* The same if there is none for the key. Returns the value that is there now; NULL: no memory. */
void* qt_dictionary_put_if_absent(qt_dictionary* dict, void* key, void* value);

/* The value; NULL: none. */
void* qt_dictionary_get(qt_dictionary* dict, void* key);

/* Takes the entry out, calls cleanup(its key, NULL), and returns its value; NULL: none. */
void* qt_dictionary_delete(qt_dictionary* dict, void* key);

/* Visits each entry that is there from the creation to the end of the visit once, in no particular
 * order; others perhaps. What iterator_next returned stays readable while there is an iterator,
 * even if the entry is deleted. ERROR: no dictionary, no memory. */
qt_dictionary_iterator* qt_dictionary_iterator_create(qt_dictionary* dict);
void qt_dictionary_iterator_destroy(qt_dictionary_iterator* it);
/* NULL: there are no more; ERROR: no iterator. */
list_entry* qt_dictionary_iterator_next(qt_dictionary_iterator* it);
/* What the last iterator_next returned; NULL before the first. ERROR: no iterator. */
list_entry* qt_dictionary_iterator_get(qt_dictionary_iterator const* it);
/* Equal to each iterator of the dictionary whose iterator_next has returned NULL. NULL: no
 * dictionary, no memory. */
qt_dictionary_iterator* qt_dictionary_end(qt_dictionary* dict);
/* Nonzero: of the same dictionary, at the same entry. */
int qt_dictionary_iterator_equals(qt_dictionary_iterator* a, qt_dictionary_iterator* b);
/* NULL: no iterator, no memory. */
qt_dictionary_iterator* qt_dictionary_iterator_copy(qt_dictionary_iterator* b);

/* For people: sizes, to the standard output. */
void qt_dictionary_printbuckets(qt_dictionary* dict);

Q_ENDCXX

#endif
