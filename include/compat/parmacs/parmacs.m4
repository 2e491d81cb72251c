divert(-1)
# SPDX-License-Identifier: Apache-2.0
#
# The PARMACS macros on Tulle: m4 parmacs.m4 prog.c.in >prog.c && cc prog.c $(pkg-config --cflags --libs tulle-parmacs). tulle_parmacs(7) describes
# them. C code is full of names of m4's own macros and of its quotes, so at the end these are taken away. Lines that begin with a number sign are left as they are.
define(`tulle_if', defn(`ifelse'))
changequote([[[,]]])

# Programs count on headers that the environment brings.
define([[[EXTERN_ENV]]], [[[
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <tulle_parmacs.h>
#ifndef PAGE_SIZE
#define PAGE_SIZE 4096
#endif
]]])
define([[[MAIN_ENV]]], [[[
#define TULLE_PARMACS_MAIN
EXTERN_ENV]]])
define([[[MAIN_INITENV]]], [[[{ tulle_parmacs_begin(); }]]])
define([[[MAIN_END]]], [[[{ tulle_parmacs_end(); }]]])

define([[[CLOCK]]], [[[{ ($1) = tulle_parmacs_clock(); }]]])
# With a number it is that of all processes, and the caller is one of them.
define([[[CREATE]]], [[[tulle_if([[[$#]]],0,[[[[[[CREATE]]]]]],[[[$2]]],,[[[{ tulle_parmacs_create($1); }]]],[[[{ tulle_parmacs_create_all((void (*)(void))($1), $2); }]]])]]])
define([[[WAIT_FOR_END]]], [[[{ tulle_parmacs_wait_for_end($1); }]]])
# It is written as a comment, so that others ignore it; a comment may speak of it.
define([[[START_TIME]]], [[[tulle_if([[[$#]]],0,[[[[[[START_TIME]]]]]],[[[
{ tulle_parmacs_start_time($1, $2); }]]])]]])

# Programs leave out the semicolon here, too; with _F it is an expression.
define([[[G_MALLOC]]], [[[tulle_parmacs_malloc($1);]]])
define([[[G_MALLOC_F]]], [[[tulle_parmacs_malloc($1)]]])
define([[[G_FREE]]], [[[{ tulle_parmacs_free($1); }]]])
define([[[NU_MALLOC]]], defn([[[G_MALLOC]]]))
define([[[NU_MALLOC_F]]], defn([[[G_MALLOC_F]]]))
define([[[NU_FREE]]], defn([[[G_FREE]]]))

define([[[LOCKDEC]]], [[[tulle_parmacs_lock_t $1;]]])
define([[[LOCKINIT]]], [[[{ tulle_parmacs_lock_init(&($1), 1); }]]])
define([[[LOCK]]], [[[{ tulle_parmacs_lock($1); }]]])
define([[[UNLOCK]]], [[[{ tulle_parmacs_unlock($1); }]]])
define([[[ALOCKDEC]]], [[[tulle_parmacs_lock_t $1[$2];]]])
define([[[ALOCKINIT]]], [[[{ tulle_parmacs_lock_init($1, $2); }]]])
define([[[ALOCK]]], [[[{ tulle_parmacs_lock(($1)[$2]); }]]])
define([[[AUNLOCK]]], [[[{ tulle_parmacs_unlock(($1)[$2]); }]]])
define([[[AULOCK]]], defn([[[AUNLOCK]]]))

define([[[AGETL]]], [[[(($1)[$2])]]])

define([[[BARDEC]]], [[[tulle_parmacs_barrier_t $1;]]])
define([[[BARINIT]]], [[[{ tulle_parmacs_barrier_init(&($1), 1); }]]])
define([[[BARRIER]]], [[[{ tulle_parmacs_barrier($1, $2); }]]])

define([[[GSDEC]]], [[[tulle_parmacs_subscript_t $1;]]])
define([[[GSINIT]]], [[[{ tulle_parmacs_subscript_init(&($1), 1); }]]])
define([[[GETSUB]]], [[[{ ($2) = tulle_parmacs_subscript($1, $3, $4); }]]])

define([[[PAUSEDEC]]], [[[tulle_parmacs_event_t $1[tulle_if([[[$2]]],,1,[[[$2]]])];]]])
define([[[PAUSEINIT]]], [[[{ tulle_parmacs_event_init($1, tulle_if([[[$2]]],,1,[[[$2]]])); }]]])
define([[[SETPAUSE]]], [[[{ tulle_parmacs_event_set(($1)[tulle_if([[[$2]]],,0,[[[$2]]])]); }]]])
define([[[CLEARPAUSE]]], [[[{ tulle_parmacs_event_clear(($1)[tulle_if([[[$2]]],,0,[[[$2]]])]); }]]])
define([[[WAITPAUSE]]], [[[{ tulle_parmacs_event_wait(($1)[tulle_if([[[$2]]],,0,[[[$2]]])]); }]]])
define([[[PAUSE]]], [[[{ tulle_parmacs_event_take(($1)[tulle_if([[[$2]]],,0,[[[$2]]])]); }]]])
define([[[EVENT]]], [[[{ tulle_parmacs_event_announce(($1)[tulle_if([[[$2]]],,0,[[[$2]]])]); }]]])

define([[[CONDVARDEC]]], [[[void* $1;]]])
define([[[CONDVARINIT]]], [[[{ tulle_parmacs_cond_init(&($1), 1); }]]])
define([[[CONDVARWAIT]]], [[[{ tulle_parmacs_cond_wait($1, $2); }]]])
define([[[CONDVARSIGNAL]]], [[[{ tulle_parmacs_cond_signal($1); }]]])
define([[[CONDVARBCAST]]], [[[{ tulle_parmacs_cond_broadcast($1); }]]])

define([[[ACQUIRE_FENCE]]], [[[{ tulle_parmacs_acquire_fence(); }]]])
define([[[RELEASE_FENCE]]], [[[{ tulle_parmacs_release_fence(); }]]])
define([[[FULL_FENCE]]], [[[{ tulle_parmacs_full_fence(); }]]])

# What a simulator would look at.
define([[[SPLASH3_ROI_BEGIN]]], [[[]]])
define([[[SPLASH3_ROI_END]]], [[[]]])

undefine([[[builtin]]], [[[changecom]]], [[[changequote]]], [[[changeword]]], [[[debugfile]]], [[[debugmode]]], [[[decr]]], [[[define]]], [[[defn]]], [[[divnum]]],
    [[[dumpdef]]], [[[errprint]]], [[[esyscmd]]], [[[eval]]], [[[format]]], [[[ifdef]]], [[[ifelse]]], [[[incr]]], [[[index]]],
    [[[indir]]], [[[len]]], [[[m4exit]]], [[[m4wrap]]], [[[maketemp]]], [[[mkstemp]]], [[[patsubst]]], [[[popdef]]], [[[pushdef]]], [[[regexp]]],
    [[[shift]]], [[[substr]]], [[[syscmd]]], [[[sysval]]], [[[traceoff]]], [[[traceon]]], [[[translit]]],
    [[[undivert]]], [[[unix]]], [[[__unix__]]], [[[__gnu__]]], [[[__file__]]], [[[__line__]]], [[[__program__]]])
divert(0)undefine([[[divert]]], [[[dnl]]], [[[undefine]]])
