// SPDX-License-Identifier: Apache-2.0
// What overflow.cpp calls that is compiled without -fstack-clash-protection.
#pragma once

// The compiler leaves the whole array in the frame.
inline void keep(volatile char* local) { asm volatile("" : : "r"(local) : "memory"); }

// A frame of 96 KiB whose guard page is never touched.
void step_over_the_guard();
