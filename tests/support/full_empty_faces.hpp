// SPDX-License-Identifier: Apache-2.0
//
// Full/empty words by address and objects behind one interface, with int as the value, for tests
// that hold for all of them.
#pragma once

#include <tulle/tulle.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

template <class T> class word_face {
public:
    explicit word_face(int value) : m_word(static_cast<T>(value)) {}
    ~word_face() { tulle::feb::fill(m_word); }
    word_face(word_face const&) = delete;
    word_face& operator=(word_face const&) = delete;

    bool is_full() { return tulle::feb::is_full(m_word); }
    std::size_t waiting() { return tulle::feb::waiting(m_word).size(); }
    int read_xx() { return static_cast<int>(tulle::feb::read_xx(m_word)); }
    void fill() { tulle::feb::fill(m_word); }
    void empty() { tulle::feb::empty(m_word); }
    void purge(int v) { tulle::feb::purge(m_word, static_cast<T>(v)); }
    void write_f(int v) { tulle::feb::write_f(m_word, static_cast<T>(v)); }
    int read_ff() { return static_cast<int>(tulle::feb::read_ff(m_word)); }
    int read_fe() { return static_cast<int>(tulle::feb::read_fe(m_word)); }
    void write_ff(int v) { tulle::feb::write_ff(m_word, static_cast<T>(v)); }
    void write_ef(int v) { tulle::feb::write_ef(m_word, static_cast<T>(v)); }
    std::optional<int> try_read_ff() { return as_int(tulle::feb::try_read_ff(m_word)); }
    std::optional<int> try_read_fe() { return as_int(tulle::feb::try_read_fe(m_word)); }
    bool try_write_ff(int v) { return tulle::feb::try_write_ff(m_word, static_cast<T>(v)); }
    bool try_write_ef(int v) { return tulle::feb::try_write_ef(m_word, static_cast<T>(v)); }
    template <class D> std::optional<int> try_read_ff_for(D d) {
        return as_int(tulle::feb::try_read_ff_for(m_word, d));
    }
    template <class D> std::optional<int> try_read_fe_for(D d) {
        return as_int(tulle::feb::try_read_fe_for(m_word, d));
    }
    template <class D> bool try_write_ff_for(int v, D d) {
        return tulle::feb::try_write_ff_for(m_word, static_cast<T>(v), d);
    }
    template <class D> bool try_write_ef_for(int v, D d) {
        return tulle::feb::try_write_ef_for(m_word, static_cast<T>(v), d);
    }
    template <class P> std::optional<int> try_read_ff_until(P p) {
        return as_int(tulle::feb::try_read_ff_until(m_word, p));
    }
    template <class P> std::optional<int> try_read_fe_until(P p) {
        return as_int(tulle::feb::try_read_fe_until(m_word, p));
    }
    template <class P> bool try_write_ff_until(int v, P p) {
        return tulle::feb::try_write_ff_until(m_word, static_cast<T>(v), p);
    }
    template <class P> bool try_write_ef_until(int v, P p) {
        return tulle::feb::try_write_ef_until(m_word, static_cast<T>(v), p);
    }

private:
    static std::optional<int> as_int(std::optional<T> v) {
        return v ? std::optional<int>(static_cast<int>(*v)) : std::nullopt;
    }

    T m_word;
};

// Values that are no single word: a shared pointer, which is copied, and three words, which are
// copied bytewise.
struct large_value {
    int first = 0;
    std::uint64_t second = 0;
    int third = 0;

    static large_value of(int v) { return {v, static_cast<std::uint64_t>(v) * 7, -v}; }
    // -1: torn
    [[nodiscard]] int value() const {
        return second == static_cast<std::uint64_t>(first) * 7 && third == -first ? first : -1;
    }
};
struct shared_value {
    std::shared_ptr<int> at;

    static shared_value of(int v) { return {std::make_shared<int>(v)}; }
    [[nodiscard]] int value() const { return at == nullptr ? 0 : *at; }
};
struct plain_value {
    int number = 0;

    static plain_value of(int v) { return {v}; }
    [[nodiscard]] int value() const { return number; }
};

template <class T> class object_face {
public:
    // Of a moved-from value nothing is known.
    explicit object_face(int value) : m_object(T::of(value)) {}

    bool is_full() { return m_object.is_full(); }
    std::size_t waiting() { return m_object.waiting().size(); }
    int read_xx() { return m_object.read_xx().value(); }
    void fill() { m_object.fill(); }
    void empty() { m_object.empty(); }
    void purge(int v) { m_object.purge(T::of(v)); }
    void write_f(int v) { m_object.write_f(T::of(v)); }
    int read_ff() { return m_object.read_ff().value(); }
    int read_fe() { return m_object.read_fe().value(); }
    void write_ff(int v) { m_object.write_ff(T::of(v)); }
    void write_ef(int v) { m_object.write_ef(T::of(v)); }
    std::optional<int> try_read_ff() { return as_int(m_object.try_read_ff()); }
    std::optional<int> try_read_fe() { return as_int(m_object.try_read_fe()); }
    bool try_write_ff(int v) { return m_object.try_write_ff(T::of(v)); }
    bool try_write_ef(int v) { return m_object.try_write_ef(T::of(v)); }
    template <class D> std::optional<int> try_read_ff_for(D d) {
        return as_int(m_object.try_read_ff_for(d));
    }
    template <class D> std::optional<int> try_read_fe_for(D d) {
        return as_int(m_object.try_read_fe_for(d));
    }
    template <class D> bool try_write_ff_for(int v, D d) {
        return m_object.try_write_ff_for(T::of(v), d);
    }
    template <class D> bool try_write_ef_for(int v, D d) {
        return m_object.try_write_ef_for(T::of(v), d);
    }
    template <class P> std::optional<int> try_read_ff_until(P p) {
        return as_int(m_object.try_read_ff_until(p));
    }
    template <class P> std::optional<int> try_read_fe_until(P p) {
        return as_int(m_object.try_read_fe_until(p));
    }
    template <class P> bool try_write_ff_until(int v, P p) {
        return m_object.try_write_ff_until(T::of(v), p);
    }
    template <class P> bool try_write_ef_until(int v, P p) {
        return m_object.try_write_ef_until(T::of(v), p);
    }

private:
    static std::optional<int> as_int(std::optional<T> v) {
        return v ? std::optional<int>(v->value()) : std::nullopt;
    }

    tulle::full_empty<T> m_object;
};
