// SPDX-License-Identifier: Apache-2.0
// To lock an address is to empty the byte there, which is neither read nor written.
#include "sync/locked_addresses.hpp"
#include "sync/process_words.hpp"

#include <tulle/address_lock.hpp>
#include <tulle/this_thread.hpp>

#include <new>

namespace tulle::detail {

using sync::k_check_addresses;
using sync::locked_addresses;
using sync::parking;
using sync::word_result;

namespace {

// The cell of an address, without a value.
class no_cell {
public:
    using value_type = char;
    static constexpr bool k_is_lock = true;

    explicit no_cell(void const* address) noexcept
        : m_address(reinterpret_cast<std::uintptr_t>(address)) {}

    [[nodiscard]] std::uintptr_t address() const noexcept { return m_address; }
    [[nodiscard]] char load() const noexcept { return 0; }
    void store(char /*value*/) const noexcept {}
    void copy_out(void* /*buffer*/) const noexcept {}
    void move_out(void* /*buffer*/) const noexcept {}
    void copy_in(void const* /*buffer*/) const noexcept {}
    void move_in(void const* /*buffer*/) const noexcept {}
    static void pass(void* /*to*/, void const* /*from*/) noexcept {}

private:
    std::uintptr_t m_address;
};

using lock_word = sync::full_empty_word<parking, no_cell>;

word_result lock(lock_word w, limit until) noexcept {
    char nothing = 0;
    return sync::limit<parking>(until).is_none()
               ? w.read_fe(nothing, until)
               : w.perform(sync::feb_operation::read_fe, nothing, until);
}

} // namespace

bool lock_address(void const* address, limit until) {
    parking::schedule_point();
    lock_word w(sync::process_words(), no_cell(address));
    if (!k_check_addresses && TULLE_LIKELY(w.take_alone())) return true;
    auto const number = reinterpret_cast<std::uintptr_t>(address);
    if constexpr (k_check_addresses)
        locked_addresses::instance().will_lock(number, [&w] { return !w.is_full(); });
    word_result const result = lock(w, until);
    if constexpr (k_check_addresses) {
        if (result == word_result::done)
            locked_addresses::instance().has_locked(number, this_thread::get_id());
        else
            locked_addresses::instance().has_not_locked(number);
    }
    if (result == word_result::no_memory) throw std::bad_alloc();
    return result == word_result::done;
}

void unlock_address(void const* address) noexcept {
    parking::schedule_point();
    lock_word w(sync::process_words(), no_cell(address));
    if (!k_check_addresses && TULLE_LIKELY(w.give_back_alone())) return;
    auto const number = reinterpret_cast<std::uintptr_t>(address);
    if constexpr (k_check_addresses) locked_addresses::instance().will_unlock(number);
    static_cast<void>(w.fill());
    if constexpr (k_check_addresses) locked_addresses::instance().has_unlocked(number);
}

} // namespace tulle::detail
