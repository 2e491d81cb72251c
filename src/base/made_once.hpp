// SPDX-License-Identifier: Apache-2.0
// An object that is made when it is first asked for, and never destroyed: threads may use it until
// the process has gone. A static variable of a function would be made by one thread while others
// wait, and a child that is forked meanwhile would wait for ever, as it has no such thread. Here
// nobody waits: of threads that make it at once the first to be done wins, and a child makes its
// own. So making it, and destroying one that nobody has seen, must do nothing else.
// get: any thread; what it throws is what T throws, or std::bad_alloc.
#pragma once

#include <atomic>
#include <memory>

namespace tulle::base {

template <class T> class made_once {
public:
    constexpr made_once() noexcept = default;

    [[nodiscard]] T& get() {
        // acquire pairs with make_cold
        T* const found = m_made.load(std::memory_order_acquire);
        return found != nullptr ? *found : make_cold();
    }

private:
    T& make_cold() {
        auto own = std::make_unique<T>();
        T* before = nullptr;
        // acq_rel, acquire: whoever finds it finds it made.
        bool const wins = m_made.compare_exchange_strong(
            before, own.get(), std::memory_order_acq_rel, std::memory_order_acquire);
        return wins ? *own.release() : *before;
    }

    std::atomic<T*> m_made{nullptr};
};

} // namespace tulle::base
