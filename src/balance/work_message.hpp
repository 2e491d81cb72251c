// SPDX-License-Identifier: Apache-2.0
// What places tell each other about work that may run at any of them: `handler` of a packet of the
// kind `work`. The protocol: src/balance/README.md.
#pragma once

#include <cstdint>

namespace tulle::balance {

enum class work_message : std::uint64_t {
    hello,   // there may be such work from now on
    request, // by a place without work; a: its lifeline, that is, to be remembered if there is none
    answer,  // a: activities that have been sent, 0: there is no work; b: `a` of the request
    record,  // in answer; a: its address there, b: as above, c: its code, payload: its body
    result,  // of a record that has come by message; a: its address, payload: its body
    failure, // of a record; a: its address, payload: exception
    // A record has ended where it lies; a: the record, b: the signal that its parent waits for.
    wake
};

} // namespace tulle::balance
