// SPDX-License-Identifier: Apache-2.0
#include "sched/values/names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "sched/watch/debug_layout.hpp"

namespace tulle::sched {

namespace {

using name_map = std::unordered_map<thread_id, std::string>;

// Whoever holds the lock neither takes nor gives back memory. At a fork(2) an allocator may take
// its own locks before this one: a thread that held this one and waited for the allocator would be
// waited for by the thread that forks, and wait for it.
struct name_table {
    std::mutex lock;
    name_map names;
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

constexpr std::size_t k_least_room = 32;

// So many names fit without more memory. A map that has had no name yet takes some at the first.
bool has_room(name_map const& map, std::size_t count) noexcept {
    std::size_t const buckets = map.bucket_count();
    return buckets >= k_least_room &&
           static_cast<float>(count) <= static_cast<float>(buckets) * map.max_load_factor();
}

// `into`, which is empty, has room for all, and gets the memory in which they were found.
void move_all(name_map& names, name_map& into) noexcept {
    while (!names.empty()) into.insert(names.extract(names.begin()));
    names.swap(into);
}

} // namespace

void remember_name(thread_id id, std::string_view name) {
    name_map made, larger; // what is left in them is given back after the lock
    made.emplace(id, name);
    name_map::node_type one = made.extract(id);
    name_map& names = table().names;
    for (;;) {
        std::size_t wanted = 0;
        {
            std::lock_guard const held(table().lock);
            if (auto const found = names.find(id); found != names.end())
                return found->second.swap(one.mapped());
            wanted = names.size() + 1;
            if (has_room(larger, wanted) && !has_room(names, wanted)) move_all(names, larger);
            if (has_room(names, wanted)) return static_cast<void>(names.insert(std::move(one)));
        }
        larger.reserve(std::max(2 * wanted, k_least_room));
    }
}

std::string find_name(thread_id id) {
    std::string copy;
    for (;;) {
        std::size_t wanted = 0;
        {
            std::lock_guard const held(table().lock);
            auto const found = table().names.find(id);
            if (found == table().names.end()) return {};
            wanted = found->second.size();
            if (wanted <= copy.capacity()) return copy.assign(found->second), copy;
        }
        copy.reserve(wanted);
    }
}

void forget_name(thread_id id) noexcept {
    name_map::node_type forgotten; // given back after the lock
    std::lock_guard const held(table().lock);
    forgotten = table().names.extract(id);
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
