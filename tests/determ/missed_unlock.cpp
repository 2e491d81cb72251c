// SPDX-License-Identifier: Apache-2.0
// Two threads withdraw from one account; the second to come finds too little and throws. `planted`:
// the exception passes by the unlock, so whoever locks next waits for ever. `mended`: a guard
// unlocks. The error shows only where a third thread looks at the account after that.
#include "variant.hpp"

#include <tulle/tulle.hpp>

#include <mutex>
#include <stdexcept>

namespace {

class account {
public:
    explicit account(bool planted) : m_planted(planted) {}

    bool withdraw(int amount) {
        try {
            if (m_planted)
                withdraw_carelessly(amount);
            else
                withdraw_carefully(amount);
            return true;
        } catch (std::runtime_error const&) {
            return false;
        }
    }
    void deposit(int amount) {
        std::lock_guard const held(m_lock);
        m_balance += amount;
    }

private:
    void take(int amount) {
        if (amount > m_balance) throw std::runtime_error("the balance is too small");
        m_balance -= amount;
    }
    void withdraw_carelessly(int amount) {
        m_lock.lock();
        take(amount);
        m_lock.unlock();
    }
    void withdraw_carefully(int amount) {
        std::lock_guard const held(m_lock);
        take(amount);
    }

    bool m_planted;
    tulle::mutex m_lock;
    int m_balance = 0; // under m_lock
};

} // namespace

// In the order of starting all goes well: the deposit comes first.
int main(int argc, char** argv) {
    account one(is_planted(argc, argv));
    auto pays_in = tulle::spawn([&] { one.deposit(10); });
    auto takes_out = tulle::spawn([&] { return one.withdraw(10); });
    pays_in.join();
    static_cast<void>(takes_out.join()); // true, or false when it came first
    one.deposit(1);
    return 0;
}
