// SPDX-License-Identifier: Apache-2.0
// A hash table in segments with a mutex each (dictionary_segment.hpp). Entries that are deleted are
// kept while there are iterators.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/structures/dictionary_segment.hpp"

#include <qthread/dictionary.h>
#include <qthread/hash.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>

namespace tulle::compat {

// Of a dictionary, which its iterators may survive; all that they may do then is to end.
struct dictionary_visits {
    std::atomic<std::size_t> iterators{0}; // counted with no lock, asked with that of a segment
    std::atomic<bool> is_over{false};      // the dictionary is gone
};

} // namespace tulle::compat

namespace {

using tulle::compat::dictionary_entry;
using tulle::compat::dictionary_segment;
using tulle::compat::dictionary_visits;
using tulle::compat::is_object;

constexpr std::size_t k_segments = 64;

} // namespace

struct qt_dictionary {
    qt_dict_key_equals_f equals;
    qt_dict_hash_f hash;
    qt_dict_cleanup_f cleanup;
    std::shared_ptr<dictionary_visits> visits = std::make_shared<dictionary_visits>();
    std::array<dictionary_segment, k_segments> segments;

    qt_dictionary(qt_dict_key_equals_f eq, qt_dict_hash_f h, qt_dict_cleanup_f c)
        : equals(eq), hash(h), cleanup(c) {}
    [[nodiscard]] std::uint64_t mixed_hash(void* key) const {
        return qt_hash64(static_cast<std::uint64_t>(static_cast<std::int64_t>(hash(key))));
    }
    [[nodiscard]] dictionary_segment& segment_of(std::uint64_t mixed) noexcept {
        return segments[mixed % k_segments];
    }
    [[nodiscard]] auto find(dictionary_segment& s, std::uint64_t mixed, void* key) {
        return s.find(mixed, [this, key](list_entry const& e) { return equals(e.key, key) != 0; });
    }
    // Whoever holds an entry got it with the lock of its segment, and was counted before. acquire
    // pairs with the end of an iterator.
    [[nodiscard]] bool is_visited() const noexcept {
        return visits->iterators.load(std::memory_order_acquire) != 0;
    }
};

struct qt_dictionary_iterator {
    enum class state { fresh, inside, end };

    qt_dictionary* dict;
    std::shared_ptr<dictionary_visits> visits;
    state where;
    std::size_t segment; // of `current`, or to be visited next
    list_entry* current = nullptr;

    // relaxed: the lock of a segment publishes the count.
    qt_dictionary_iterator(qt_dictionary* d, state s)
        : dict(d), visits(d->visits), where(s), segment(s == state::end ? k_segments : 0) {
        visits->iterators.fetch_add(1, std::memory_order_relaxed);
    }
    qt_dictionary_iterator(qt_dictionary_iterator const& other)
        : dict(other.dict),
          visits(other.visits),
          where(other.where),
          segment(other.segment),
          current(other.current) {
        visits->iterators.fetch_add(1, std::memory_order_relaxed); // relaxed: as above
    }
    qt_dictionary_iterator& operator=(qt_dictionary_iterator const&) = delete;
    ~qt_dictionary_iterator() {
        // release pairs with is_visited(): what this iterator has read. acquire: what the others
        // have. relaxed: the program orders the end of the dictionary.
        if (visits->iterators.fetch_sub(1, std::memory_order_acq_rel) == 1 &&
            !visits->is_over.load(std::memory_order_relaxed))
            free_deleted();
    }
    list_entry* advance() {
        for (; segment != k_segments; ++segment) {
            dictionary_segment& s = dict->segments[segment];
            std::lock_guard const held(s.lock);
            current = current != nullptr ? s.after(*current) : s.first_from(0);
            if (current != nullptr) break;
        }
        where = current != nullptr ? state::inside : state::end;
        return current;
    }

private:
    void free_deleted() const {
        for (dictionary_segment& s : dict->segments) {
            std::lock_guard const held(s.lock);
            if (dict->is_visited()) continue; // the last of those frees them
            s.free_deleted();
        }
    }
};

namespace {

enum class if_present { keep, replace };

void* put(qt_dictionary* d, void* key, void* value, if_present then) try {
    if (!is_object(d)) return nullptr;
    std::uint64_t const mixed = d->mixed_hash(key);
    dictionary_segment& s = d->segment_of(mixed);
    std::lock_guard const held(s.lock);
    auto const [link, found] = d->find(s, mixed, key);
    if (found) {
        if (then == if_present::replace) (*link)->value = value;
        return (*link)->value;
    }
    s.insert(link, new dictionary_entry{{value, key, mixed, nullptr}, true, nullptr});
    return value;
} catch (std::bad_alloc const&) {
    return nullptr;
}

// As the interface has it: an address that no entry has.
template <class T> T* error() { return static_cast<T*>(ERROR); }

} // namespace

qt_dictionary* qt_dictionary_create(qt_dict_key_equals_f eq, qt_dict_hash_f hash,
                                    qt_dict_cleanup_f cleanup) try {
    return eq != nullptr && hash != nullptr ? new qt_dictionary(eq, hash, cleanup) : nullptr;
} catch (std::bad_alloc const&) {
    return nullptr;
}

void qt_dictionary_destroy(qt_dictionary* d) {
    if (!is_object(d)) return;
    for (dictionary_segment& s : d->segments) {
        for (list_entry* e = s.first_from(0); e != nullptr;) {
            list_entry* const next = s.after(*e);
            if (d->cleanup != nullptr) d->cleanup(e->key, e->value);
            delete static_cast<dictionary_entry*>(e);
            e = next;
        }
        s.free_deleted();
    }
    d->visits->is_over.store(true, std::memory_order_relaxed); // relaxed: as said where it is read
    delete d;
}

void* qt_dictionary_put(qt_dictionary* dict, void* key, void* value) {
    return put(dict, key, value, if_present::replace);
}
void* qt_dictionary_put_if_absent(qt_dictionary* dict, void* key, void* value) {
    return put(dict, key, value, if_present::keep);
}

void* qt_dictionary_get(qt_dictionary* dict, void* key) {
    if (!is_object(dict)) return nullptr;
    std::uint64_t const mixed = dict->mixed_hash(key);
    dictionary_segment& s = dict->segment_of(mixed);
    std::lock_guard const held(s.lock);
    auto const [link, found] = dict->find(s, mixed, key);
    return found ? (*link)->value : nullptr;
}

void* qt_dictionary_delete(qt_dictionary* dict, void* key) {
    if (!is_object(dict)) return nullptr;
    std::uint64_t const mixed = dict->mixed_hash(key);
    dictionary_segment& s = dict->segment_of(mixed);
    std::unique_lock held(s.lock);
    auto const [link, found] = dict->find(s, mixed, key);
    if (!found) return nullptr;
    dictionary_entry* const e = s.remove(link);
    void* const stored_key = e->key;
    void* const value = e->value;
    if (dict->is_visited()) {
        s.keep_deleted(e);
    } else {
        delete e;
    }
    held.unlock();
    if (dict->cleanup != nullptr) dict->cleanup(stored_key, nullptr);
    return value;
}

qt_dictionary_iterator* qt_dictionary_iterator_create(qt_dictionary* dict) {
    auto* const it = is_object(dict)
                         ? new (std::nothrow)
                               qt_dictionary_iterator(dict, qt_dictionary_iterator::state::fresh)
                         : nullptr;
    return it != nullptr ? it : error<qt_dictionary_iterator>();
}
void qt_dictionary_iterator_destroy(qt_dictionary_iterator* it) {
    if (is_object(it)) delete it;
}
list_entry* qt_dictionary_iterator_next(qt_dictionary_iterator* it) {
    return is_object(it) ? it->advance() : error<list_entry>();
}
list_entry* qt_dictionary_iterator_get(qt_dictionary_iterator const* it) {
    return is_object(it) ? it->current : error<list_entry>();
}
qt_dictionary_iterator* qt_dictionary_end(qt_dictionary* dict) {
    return is_object(dict) ? new (std::nothrow)
                                 qt_dictionary_iterator(dict, qt_dictionary_iterator::state::end)
                           : nullptr;
}
int qt_dictionary_iterator_equals(qt_dictionary_iterator* a, qt_dictionary_iterator* b) {
    if (!is_object(a) || !is_object(b)) return a == b ? 1 : 0;
    return a->dict == b->dict && a->where == b->where && a->current == b->current ? 1 : 0;
}
qt_dictionary_iterator* qt_dictionary_iterator_copy(qt_dictionary_iterator* b) {
    return is_object(b) ? new (std::nothrow) qt_dictionary_iterator(*b) : nullptr;
}

void qt_dictionary_printbuckets(qt_dictionary* dict) {
    if (!is_object(dict)) return;
    std::size_t buckets = 0;
    std::size_t entries = 0;
    for (dictionary_segment& s : dict->segments) {
        std::lock_guard const held(s.lock);
        buckets += s.buckets.size();
        entries += s.count;
    }
    std::printf("allocated_buckets = %zu; total elements = %zu;\n", buckets, entries);
}
