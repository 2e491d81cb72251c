/* SPDX-License-Identifier: Apache-2.0
 *
 * Heaps in files that are mapped into memory: what a program leaves there the next run finds again,
 * at the same addresses. A static map has pieces of one size, a dynamic map of any. Contexts: any
 * OS thread, before qthread_initialize(), too. One process at a time uses a file.
 * Errors: NULL, and errno says why; a file of another layout, size or kind is EINVAL, addresses
 * that are taken are EEXIST. */
#ifndef QALLOC_H
#define QALLOC_H

#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "macros.h"

#include <sys/types.h>
#include <unistd.h>

Q_STARTCXX

typedef struct mapinfo_s mapinfo_t;
typedef struct dynmapinfo_s dynmapinfo_t;

/* Makes the file, of `filesize` bytes, if it is not there or empty; else loads it. `addr`: where it
 * is to be mapped; NULL: anywhere. A file that is loaded is mapped where it was. `streams`: lists
 * of free pieces, of which each thread prefers one. */
void* qalloc_makestatmap(off_t const filesize, void* addr, char const* filename, size_t itemsize,
                         size_t const streams);
void* qalloc_makedynmap(off_t const filesize, void* addr, char const* filename,
                        size_t const streams);

/* Loads a file of either kind. ENOENT, EINVAL: there is none. */
void* qalloc_loadmap(char const* filename);

/* Writes all maps to their files. */
void qalloc_checkpoint(void);

/* The same, and unmaps them. Nobody may use them meanwhile. */
void qalloc_cleanup(void);

/* A piece with whatever its last user left in it, aligned to 16 bytes (of a static map: to the
 * largest power of two up to 16 that divides the size of an item rounded up to 8). ENOMEM: the map
 * is full. qalloc_malloc() asks the map for its kind and ignores the size if it is
 * static. */
void* qalloc_statmalloc(mapinfo_t* map);
void* qalloc_dynmalloc(dynmapinfo_t* map, size_t size);
void* qalloc_malloc(void* map, size_t size);

/* Gives a piece back to its map. Null: nothing. */
void qalloc_statfree(void* block, mapinfo_t* map);
void qalloc_dynfree(void* block, dynmapinfo_t* map);
void qalloc_free(void* block, void* map);

Q_ENDCXX

#endif
