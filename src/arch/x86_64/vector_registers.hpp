// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls call(argument); vector registers are the same afterwards (vector_registers.S).
extern "C" void tulle_keep_vectors(void (*call)(void*), void* argument);
