// SPDX-License-Identifier: Apache-2.0
// Lists that take no memory: an element has its links in itself, and a list is one pointer or two.
// There are three shapes; the smallest one that does is the right one.
//   intrusive_stack  one link        last in, first out: free lists, chains of what is to be done
//   intrusive_queue  one link        first in, first out; goes over to another queue at once
//   intrusive_list   two links       both ends, and an element leaves from the middle at once
//
//   struct job { job* next = nullptr; };
//   base::intrusive_queue<&job::next> jobs;
//
// A list is named by the members that link its elements, so an element that has several pairs of
// them is in several lists. Such a member is a pointer to the next element, or a plain<> of one
// (base/atomic.hpp). The list then has its ends in plain<>, too, and a model test sees races on it.
//
// A list owns nothing, locks nothing, and no call of it fails. An element is in one list at a time
// by the same link. Taking it out leaves its links as they were, and putting it in does not read
// them. Pointers that are read with a lock-free protocol are no matter for these lists.
#pragma once

#include "base/debug_access.hpp"

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace tulle::base {

template <auto Member> struct list_link;

// Link: T* or plain<T*>.
template <class T, class Link, Link T::*Member> struct list_link<Member> {
    using element = T;
    using link = Link;

    [[nodiscard]] static T* load(Link const& from) noexcept {
        if constexpr (std::is_pointer_v<Link>)
            return from;
        else
            return from.load();
    }
    static void store(Link& to, T* value) noexcept {
        if constexpr (std::is_pointer_v<Link>)
            to = value;
        else
            to.store(value);
    }
    [[nodiscard]] static T* of(T const& e) noexcept { return load(e.*Member); }
    static void set(T& e, T* value) noexcept { store(e.*Member, value); }
};

// What follows has the type of its elements as a parameter of its own, which nobody gives, because
// GCC does not see in a pointer to a member that the elements are of an anonymous namespace.

// Goes along the elements. While it stands on one, that may not be taken out.
template <auto Next, class T = typename list_link<Next>::element> class list_iterator {
public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;
    using iterator_category = std::forward_iterator_tag;

    explicit list_iterator(value_type* at = nullptr) noexcept : m_at(at) {} // null: the end
    [[nodiscard]] value_type& operator*() const noexcept { return *m_at; }
    [[nodiscard]] value_type* operator->() const noexcept { return m_at; }
    list_iterator& operator++() noexcept {
        m_at = list_link<Next>::of(*m_at);
        return *this;
    }
    list_iterator operator++(int) noexcept {
        list_iterator const before = *this;
        ++*this;
        return before;
    }
    [[nodiscard]] friend bool operator==(list_iterator a, list_iterator b) noexcept {
        return a.m_at == b.m_at;
    }

private:
    value_type* m_at;
};

template <auto Next, class T = typename list_link<Next>::element> class intrusive_stack {
    using next = list_link<Next>;

public:
    using element = T;
    using iterator = list_iterator<Next>;

    [[nodiscard]] bool empty() const noexcept { return first() == nullptr; }
    [[nodiscard]] element* first() const noexcept { return next::load(m_first); } // null: none
    [[nodiscard]] iterator begin() const noexcept { return iterator(first()); }
    [[nodiscard]] iterator end() const noexcept { return iterator(); }

    void push(element& e) noexcept {
        next::set(e, first());
        next::store(m_first, &e);
    }
    // Null: it is empty.
    element* pop() noexcept {
        element* const e = first();
        if (e != nullptr) next::store(m_first, next::of(*e));
        return e;
    }
    // It is in the stack; those above it are passed one by one.
    void remove(element& e) noexcept {
        typename next::link* to = &m_first;
        while (next::load(*to) != &e) to = &(next::load(*to)->*Next);
        next::store(*to, next::of(e));
    }
    void clear() noexcept { next::store(m_first, nullptr); }

private:
    typename next::link m_first{nullptr};
};

// Where the links are pointers it may be copied: both then name the same elements, and only one of
// them is used from then on.
template <auto Next, class T = typename list_link<Next>::element> class intrusive_queue {
    using next = list_link<Next>;

public:
    using element = T;
    using iterator = list_iterator<Next>;

    [[nodiscard]] bool empty() const noexcept { return first() == nullptr; }
    [[nodiscard]] element* first() const noexcept { return next::load(m_first); } // null: none
    // It is not empty.
    [[nodiscard]] element* last() const noexcept { return next::load(m_last); }
    [[nodiscard]] iterator begin() const noexcept { return iterator(first()); }
    [[nodiscard]] iterator end() const noexcept { return iterator(); }

    // In each, reading comes before writing: to the compiler a link may be m_first.
    void push_back(element& e) noexcept {
        bool const was_empty = empty();
        next::set(e, nullptr);
        if (was_empty)
            next::store(m_first, &e);
        else
            next::store(last()->*Next, &e);
        next::store(m_last, &e);
    }
    void push_front(element& e) noexcept {
        element* const second = first();
        next::set(e, second);
        if (second == nullptr) next::store(m_last, &e);
        next::store(m_first, &e);
    }
    // Null: it is empty.
    element* pop_front() noexcept {
        element* const e = first();
        if (e != nullptr) next::store(m_first, next::of(*e));
        return e;
    }
    // All of them, in a queue of their own; this one is empty then.
    [[nodiscard]] intrusive_queue take_all() noexcept {
        intrusive_queue const all = *this;
        clear();
        return all;
    }
    // All of `others`, which is empty then, come behind those that are here.
    void append(intrusive_queue& others) noexcept {
        if (others.empty()) return;
        next::store(empty() ? m_first : last()->*Next, others.first());
        next::store(m_last, others.last());
        others.clear();
    }
    // Takes out those for which `is_wanted` says true; `each(e)` is called for them. Both queues
    // keep their order.
    template <class Predicate, class Visitor>
    [[nodiscard]] intrusive_queue extract(Predicate is_wanted, Visitor each) noexcept {
        intrusive_queue wanted, others;
        while (element* const e = pop_front()) {
            bool const goes = is_wanted(*e);
            (goes ? wanted : others).push_back(*e);
            if (goes) each(*e);
        }
        append(others);
        return wanted;
    }
    void clear() noexcept { next::store(m_first, nullptr); }

private:
    friend struct base::debug_access;
    typename next::link m_first{nullptr};
    typename next::link m_last{nullptr}; // says nothing while it is empty
};

template <auto Next, auto Previous, class T = typename list_link<Next>::element>
class intrusive_list {
    using next = list_link<Next>;
    using previous = list_link<Previous>;
    static_assert(std::is_same_v<typename next::link, typename previous::link>);

public:
    using element = T;
    using iterator = list_iterator<Next>;

    intrusive_list() noexcept = default;
    // The list moves to another address: only the new one is used from then on.
    intrusive_list(intrusive_list const& old) noexcept
        : m_first(next::load(old.m_first)), m_last(next::load(old.m_last)) {}
    intrusive_list& operator=(intrusive_list const&) = delete;

    [[nodiscard]] bool empty() const noexcept { return first() == nullptr; }
    [[nodiscard]] element* first() const noexcept { return next::load(m_first); } // null: none
    [[nodiscard]] element* last() const noexcept { return next::load(m_last); }   // null: none
    [[nodiscard]] iterator begin() const noexcept { return iterator(first()); }
    [[nodiscard]] iterator end() const noexcept { return iterator(); }

    void push_back(element& e) noexcept {
        element* const before = last();
        previous::set(e, before);
        next::set(e, nullptr);
        next::store(link_behind(before), &e);
        next::store(m_last, &e);
    }
    void push_front(element& e) noexcept {
        element* const behind = first();
        previous::set(e, nullptr);
        next::set(e, behind);
        next::store(link_before(behind), &e);
        next::store(m_first, &e);
    }
    // Inserts before the element where `at` stands, or at the end.
    void insert(iterator at, element& e) noexcept {
        if (at == end()) return push_back(e);
        element* const before = previous::of(*at);
        previous::set(e, before);
        next::set(e, &*at);
        next::store(link_behind(before), &e);
        previous::set(*at, &e);
    }
    // It is in the list.
    void remove(element& e) noexcept {
        element* const behind = next::of(e);
        element* const before = previous::of(e);
        next::store(link_behind(before), behind);
        next::store(link_before(behind), before);
    }
    // Null: it is empty.
    element* pop_front() noexcept {
        element* const e = first();
        if (e != nullptr) remove(*e);
        return e;
    }
    element* pop_back() noexcept {
        element* const e = last();
        if (e != nullptr) remove(*e);
        return e;
    }
    // All of them, in a list of their own; this one is empty then.
    [[nodiscard]] intrusive_list take_all() noexcept {
        intrusive_list const all = *this;
        clear();
        return all;
    }
    void clear() noexcept {
        next::store(m_first, nullptr);
        next::store(m_last, nullptr);
    }

private:
    // The link that leads to what follows `e`, and the one that leads back from it. Null: an end.
    [[nodiscard]] typename next::link& link_behind(element* e) noexcept {
        return e == nullptr ? m_first : e->*Next;
    }
    [[nodiscard]] typename next::link& link_before(element* e) noexcept {
        return e == nullptr ? m_last : e->*Previous;
    }

    typename next::link m_first{nullptr};
    typename next::link m_last{nullptr};
};

} // namespace tulle::base
