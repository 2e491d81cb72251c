# SPDX-License-Identifier: Apache-2.0
# What makes a program for TNT of one for POSIX threads.
s/pthread[.]h/tnt.h/
s/pthread_/tnt_/g
s/PTHREAD_/TNT_/g
s/\<\(malloc\|calloc\|realloc\|free\)(/tnt_\1(/g
