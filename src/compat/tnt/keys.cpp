// SPDX-License-Identifier: Apache-2.0
// Values of threads. A key is an object of the node that has made it, which knows the destructor;
// another node makes a key of its own for it when a thread there uses it for the first time.
#include "compat/tnt/keys.hpp"

#include "compat/tnt/managed.hpp"

#include <tnt.h>
#include <tulle.h>
#include <tulle/detail/remote.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <new>
#include <system_error>

namespace tulle::tnt {

namespace {

using destructor = void (*)(void*);

constexpr int k_rounds = 4; // as PTHREAD_DESTRUCTOR_ITERATIONS

struct managed_key {
    explicit managed_key(std::uint64_t code) : destructor_name(code) {}
    std::uint64_t destructor_name; // 0: none
};

// At this node: its keys for those of all nodes.
class own_keys {
public:
    // 0: there is no such key. std::system_error (EAGAIN): this node has no room for one.
    // std::bad_alloc.
    tulle_key of(number key) {
        if (tulle_key const found = known(key)) return found;
        return is_number(key) ? make(key) : 0;
    }
    // 0: no thread of this node has used it.
    tulle_key known(number key) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.find(key);
        return found != m_all.end() ? found->second.key : 0;
    }
    void forget(number key) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.find(key);
        if (found == m_all.end()) return;
        static_cast<void>(tulle_key_delete(found->second.key));
        m_all.erase(found);
    }
    // Asks for no memory, as a thread ends where there is none, too.
    void end_values() {
        for (int k = 0; k < k_rounds; ++k) {
            bool has_called = false;
            number last = 0;
            for (own_key each; find_behind(last, each);) has_called |= end_value(each);
            if (!has_called) return;
        }
    }

private:
    struct description {
        bool exists;
        std::uint64_t destructor_name;
    };
    struct own_key {
        tulle_key key = 0;
        destructor end = nullptr;
    };
    // The next one with a destructor, which `last` is then. False: there is none.
    bool find_behind(number& last, own_key& found) {
        std::lock_guard const held(m_lock);
        auto next = m_all.upper_bound(last);
        while (next != m_all.end() && next->second.end == nullptr) ++next;
        if (next == m_all.end()) return false;
        last = next->first;
        found = next->second;
        return true;
    }
    static bool end_value(own_key const& own) {
        void* const value = tulle_get_specific(own.key);
        if (value == nullptr || tulle_set_specific(own.key, nullptr) != 0) return false;
        own.end(value);
        return true;
    }
    static description describe_here(number key) {
        auto const found = registry_of<managed_key>().find(key);
        return found == nullptr ? description{false, 0} : description{true, found->destructor_name};
    }
    static description describe(number key) {
        return at(
            place(node_of(key)), [](number of) { return describe_here(of); }, key);
    }
    // Who deletes a key takes it from its node first, and then from all others. A key that is made
    // here behind that must not stay.
    tulle_key make(number key) {
        description const about = describe(key);
        if (!about.exists) return 0;
        tulle_key const made = add(key, about);
        if (describe(key).exists) return made;
        forget(key);
        return 0;
    }
    tulle_key add(number key, description const& about) {
        own_key made;
        auto const end = reinterpret_cast<destructor>( // NOLINT
            detail::code_of_name(about.destructor_name));
        made.end = end;
        std::lock_guard const held(m_lock);
        auto const [entry, is_new] = m_all.try_emplace(key);
        if (!is_new) return entry->second.key;
        if (tulle_key_create(&made.key, end) != 0) {
            m_all.erase(entry);
            throw std::system_error(EAGAIN, std::generic_category());
        }
        entry->second = made;
        return made.key;
    }

    tulle::mutex m_lock; // guards the rest
    std::map<number, own_key> m_all;
};

// Never destroyed, as threads may outlive static objects; nor asked memory for, as the end of a
// thread may be first.
own_keys& keys() {
    alignas(own_keys) static std::array<std::byte, sizeof(own_keys)> s_memory;
    static auto* const s_all = new (s_memory.data()) own_keys;
    return *s_all;
}

} // namespace

void end_values() { keys().end_values(); }

} // namespace tulle::tnt

using namespace tulle::tnt;
using tulle::at;
using tulle::place;

int tnt_key_create(tnt_key_t* key, void (*function)(void*)) {
    if (key == nullptr) return EINVAL;
    return guarded([&] {
        std::uint64_t const code =
            function == nullptr
                ? 0
                : tulle::detail::name_of_code(reinterpret_cast<void const*>(function));
        if (function != nullptr && code == 0) return ENOENT;
        *key = registry_of<managed_key>().add(code);
        try {
            if (keys().of(*key) != 0) return 0;
        } catch (...) {
            registry_of<managed_key>().remove(*key);
            throw;
        }
        return EINVAL; // somebody has deleted it already
    });
}

int tnt_key_delete(tnt_key_t key) {
    return guarded([&] {
        int const found = manage_number<managed_key>(key, [](managed_key&, number name) {
            registry_of<managed_key>().remove(name);
            return 0;
        });
        for (place const each : tulle::places())
            if (found == 0)
                at(
                    each, [](number name) { keys().forget(name); }, key);
        return found;
    });
}

int tnt_setspecific(tnt_key_t key, const void* value) {
    return guarded([&] {
        tulle_key const own = keys().of(key);
        return own == 0 ? EINVAL : -tulle_set_specific(own, value);
    });
}

void* tnt_getspecific(tnt_key_t key) {
    tulle_key const own = keys().known(key);
    return own == 0 ? nullptr : tulle_get_specific(own);
}
