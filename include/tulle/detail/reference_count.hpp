// SPDX-License-Identifier: Apache-2.0
// How owners of one object count themselves; the last one destroys it.
#pragma once

#include <atomic>

namespace tulle::detail {

// relaxed: the caller has a reference, so the object stays.
template <class Count> void add_reference(Count& count) noexcept {
    count.fetch_add(1, std::memory_order_relaxed);
}

// True: it was the last one. acq_rel, which pairs with those of the others: what all have done with
// the object happens before its end. Whoever finds that it has the only one need not count: nobody
// else could add to it. acquire pairs with the others' acq_rel.
template <class Count> [[nodiscard]] bool drop_reference(Count& count) noexcept {
    return count.load(std::memory_order_acquire) == 1 ||
           count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// True for the first caller. relaxed: it decides only which one is first; what that one needs comes
// by another way.
template <class Flag> [[nodiscard]] bool claim(Flag& claimed) noexcept {
    return !claimed.exchange(true, std::memory_order_relaxed);
}

} // namespace tulle::detail
