// SPDX-License-Identifier: Apache-2.0
// Full/empty words: the native ones. What is read may be stored nowhere (null).
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/result.hpp"
#include "compat/qthread/threads/pending_results.hpp"

#include <tulle/feb.hpp>

#include <optional>

namespace tulle::compat {

namespace {

aligned_t& word(aligned_t const* address) noexcept { return *const_cast<aligned_t*>(address); }

// A word that is read into itself is left alone: others may write it by now.
void store(aligned_t* to, aligned_t const& from, aligned_t value) noexcept {
    if (to != nullptr && to != &from) *to = value;
}

template <class F> int with(aligned_t const* address, F operation) noexcept {
    if (!is_object(address)) return QTHREAD_BADARGS;
    return guarded([&] { operation(word(address)); });
}
// What is read goes to `to`.
template <class F> int with(aligned_t* to, aligned_t const* address, F operation) noexcept {
    return is_object_or_null(to) ? with(address, operation) : QTHREAD_BADARGS;
}
// The value that is written comes from an address.
template <class Write>
int with_value(aligned_t* address, aligned_t const* value, Write write) noexcept {
    return is_object(value) ? write(address, *value) : QTHREAD_BADARGS;
}

// Of a form that does not wait: `operation` says whether it was done.
template <class F> int attempt(aligned_t const* address, F operation) noexcept {
    bool done = false;
    int const error = with(address, [&](aligned_t& w) { done = operation(w); });
    return error != QTHREAD_SUCCESS ? error : done ? QTHREAD_SUCCESS : QTHREAD_OPFAIL;
}
template <class F> int attempt(aligned_t* to, aligned_t const* address, F operation) noexcept {
    return is_object_or_null(to) ? attempt(address, operation) : QTHREAD_BADARGS;
}

bool store(aligned_t* to, aligned_t const& from, std::optional<aligned_t> const& found) noexcept {
    if (found) store(to, from, *found);
    return found.has_value();
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;
namespace feb = tulle::feb;

int qthread_feb_status(aligned_t const* addr) {
    return is_object(addr) && feb::is_full(*addr) ? 1 : 0;
}
int qthread_empty(aligned_t const* dest) {
    return with(dest, [](aligned_t& w) { feb::empty(w); });
}
int qthread_fill(aligned_t const* dest) {
    return with(dest, [](aligned_t& w) { feb::fill(w); });
}

int qthread_writeEF(aligned_t* restrict dest, aligned_t const* restrict src) {
    return with_value(dest, src, qthread_writeEF_const);
}
int qthread_writeEF_const(aligned_t* dest, aligned_t const src) {
    return with(dest, [src](aligned_t& w) { feb::write_ef(w, src); });
}
int qthread_writeEF_nb(aligned_t* restrict dest, aligned_t const* restrict src) {
    return with_value(dest, src, qthread_writeEF_const_nb);
}
int qthread_writeEF_const_nb(aligned_t* dest, aligned_t const src) {
    return attempt(dest, [src](aligned_t& w) { return feb::try_write_ef(w, src); });
}

int qthread_writeF(aligned_t* dest, aligned_t const* src) {
    return with_value(dest, src, qthread_writeF_const);
}
int qthread_writeF_const(aligned_t* dest, aligned_t src) {
    return with(dest, [src](aligned_t& w) { feb::write_f(w, src); });
}

int qthread_purge(aligned_t* dest) { return qthread_purge_to_const(dest, 0); }
int qthread_purge_to(aligned_t* restrict dest, aligned_t const* restrict src) {
    return with_value(dest, src, qthread_purge_to_const);
}
int qthread_purge_to_const(aligned_t* dest, aligned_t purgeVal) {
    return with(dest, [purgeVal](aligned_t& w) { feb::purge(w, purgeVal); });
}

int qthread_writeFF(aligned_t* restrict dest, aligned_t const* restrict src) {
    return with_value(dest, src, qthread_writeFF_const);
}
int qthread_writeFF_const(aligned_t* dest, aligned_t src) {
    return with(dest, [src](aligned_t& w) { feb::write_ff(w, src); });
}
int qthread_writeFF_nb(aligned_t* restrict dest, aligned_t const* restrict src) {
    return with_value(dest, src, qthread_writeFF_const_nb);
}
int qthread_writeFF_const_nb(aligned_t* dest, aligned_t src) {
    return attempt(dest, [src](aligned_t& w) { return feb::try_write_ff(w, src); });
}

int qthread_readFF(aligned_t* dest, aligned_t const* src) {
    return with(dest, src, [dest](aligned_t& w) {
        if (has_pending_results() && !feb::is_full(w)) run_pending_result(&w);
        store(dest, w, feb::read_ff(w));
    });
}
int qthread_readFF_nb(aligned_t* dest, aligned_t const* src) {
    return attempt(dest, src, [dest](aligned_t& w) { return store(dest, w, feb::try_read_ff(w)); });
}
int qthread_readFE(aligned_t* dest, aligned_t const* src) {
    return with(dest, src, [dest](aligned_t& w) {
        if (has_pending_results() && !feb::is_full(w)) run_pending_result(&w);
        store(dest, w, feb::read_fe(w));
    });
}
int qthread_readFE_nb(aligned_t* dest, aligned_t const* src) {
    return attempt(dest, src, [dest](aligned_t& w) { return store(dest, w, feb::try_read_fe(w)); });
}
int qthread_readXX(aligned_t* dest, aligned_t const* src) {
    return with(dest, src, [dest](aligned_t& w) { store(dest, w, feb::read_xx(w)); });
}
