// SPDX-License-Identifier: Apache-2.0
#include "sched/values/names.hpp"

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <new>
#include <unordered_map>

#include "sched/watch/debug_layout.hpp"

namespace tulle::sched {

namespace {

struct name_table {
    std::mutex lock;
    std::unordered_map<thread_id, std::string> names;
};

// Never destroyed: threads may end during static destruction. It takes no memory while it is empty:
// reports ask when there is none.
name_table& table() noexcept {
    alignas(name_table) static std::byte s_storage[sizeof(name_table)];
    static auto* const t = [] {
        auto* const made = ::new (static_cast<void*>(s_storage)) name_table;
        publish_names_to_debuggers(&made->names);
        return made;
    }();
    return *t;
}

} // namespace

void remember_name(thread_id id, std::string_view name) {
    std::lock_guard const held(table().lock);
    table().names.insert_or_assign(id, std::string(name));
}

std::string find_name(thread_id id) {
    std::lock_guard const held(table().lock);
    auto const found = table().names.find(id);
    return found == table().names.end() ? std::string() : found->second;
}

void forget_name(thread_id id) noexcept {
    std::lock_guard const held(table().lock);
    table().names.erase(id);
}

bool copy_name(thread_id id, char* buffer, std::size_t size) noexcept {
    std::unique_lock const held(table().lock, std::try_to_lock);
    if (!held) return false;
    auto const found = table().names.find(id);
    if (found == table().names.end()) return false;
    static_cast<void>(std::snprintf(buffer, size, "%s", found->second.c_str()));
    return true;
}

void lock_names() noexcept { table().lock.lock(); }
void unlock_names() noexcept { table().lock.unlock(); }

} // namespace tulle::sched
