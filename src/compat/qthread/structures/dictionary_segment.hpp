// SPDX-License-Identifier: Apache-2.0
// A part of a dictionary: entries of which the low bits of the hash are alike. The high bits choose
// the bucket, and a bucket is sorted by hash: so the entries have one order, whatever the number of
// buckets, and an iterator goes on where it was after the table has grown.
// All but the constructor: with the lock.
#pragma once

#include <qthread/dictionary.h>

#include <tulle/mutex.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace tulle::compat {

// hashed_key: the program's hash, mixed.
struct dictionary_entry : list_entry {
    bool is_linked = true;
    dictionary_entry* next_deleted = nullptr;
};

struct alignas(64) dictionary_segment {
    static constexpr std::size_t k_first_buckets = 2;
    static constexpr std::size_t k_most_per_bucket = 2; // on average

    tulle::mutex lock;
    std::size_t count = 0;
    std::vector<list_entry*> buckets = std::vector<list_entry*>(k_first_buckets);
    dictionary_entry* deleted = nullptr; // that an iterator may look at

    [[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const noexcept {
        return hash >> shift();
    }

    // The link to the entry for the key, or to where it belongs: equals(entry) compares entries of
    // the same hash.
    template <class Equals>
    [[nodiscard]] std::pair<list_entry**, bool> find(std::uint64_t hash, Equals const& equals) {
        list_entry** link = &buckets[bucket_of(hash)];
        for (; *link != nullptr && (*link)->hashed_key <= hash; link = &(*link)->next)
            if ((*link)->hashed_key == hash && equals(**link)) return {link, true};
        return {link, false};
    }
    void insert(list_entry** link, dictionary_entry* fresh) noexcept {
        fresh->next = std::exchange(*link, fresh);
        if (++count > k_most_per_bucket * buckets.size()) grow();
    }
    [[nodiscard]] dictionary_entry* remove(list_entry** link) noexcept {
        auto* const e = static_cast<dictionary_entry*>(std::exchange(*link, (*link)->next));
        e->is_linked = false;
        --count;
        return e;
    }
    void keep_deleted(dictionary_entry* e) noexcept { e->next_deleted = std::exchange(deleted, e); }
    void free_deleted() noexcept {
        while (deleted != nullptr) delete std::exchange(deleted, deleted->next_deleted);
    }

    // In the order of an iterator; null: no more.
    [[nodiscard]] list_entry* first_from(std::size_t b) const noexcept {
        for (; b < buckets.size(); ++b)
            if (buckets[b] != nullptr) return buckets[b];
        return nullptr;
    }
    [[nodiscard]] list_entry* after(list_entry const& e) const noexcept {
        if (!static_cast<dictionary_entry const&>(e).is_linked) return first_above(e.hashed_key);
        return e.next != nullptr ? e.next : first_from(bucket_of(e.hashed_key) + 1);
    }

private:
    [[nodiscard]] int shift() const noexcept {
        return 65 - static_cast<int>(std::bit_width(buckets.size()));
    }
    // An entry that is deleted has left no trace of its place among entries with the same hash:
    // those that came behind it are left out.
    [[nodiscard]] list_entry* first_above(std::uint64_t hash) const noexcept {
        list_entry* e = buckets[bucket_of(hash)];
        while (e != nullptr && e->hashed_key <= hash) e = e->next;
        return e != nullptr ? e : first_from(bucket_of(hash) + 1);
    }
    // A sorted bucket becomes two, cut where the next bit of the hash changes. Without memory for
    // that the table serves as it is.
    void grow() noexcept try {
        std::vector<list_entry*> wider(2 * buckets.size());
        std::uint64_t const bit = std::uint64_t{1} << (shift() - 1);
        for (std::size_t b = 0; b != buckets.size(); ++b) {
            list_entry** link = &buckets[b];
            while (*link != nullptr && ((*link)->hashed_key & bit) == 0) link = &(*link)->next;
            wider[2 * b + 1] = std::exchange(*link, nullptr);
            wider[2 * b] = buckets[b];
        }
        buckets = std::move(wider);
    } catch (std::bad_alloc const&) {}
};

} // namespace tulle::compat
