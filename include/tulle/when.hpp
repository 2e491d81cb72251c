// SPDX-License-Identifier: Apache-2.0
// One future for several: all have come, or one has. Nobody waits meanwhile.
// Contexts: any thread of the process. Source: the Concurrency TS (ISO/IEC 19571:2016), 2.7 to
// 2.10.
#pragma once

#include <tulle/detail/reference_count.hpp>
#include <tulle/future.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tulle {

// What when_any() gives.
template <class Futures> struct when_any_result {
    // Of the one that has come first; -1: there are none.
    std::size_t index = static_cast<std::size_t>(-1);
    Futures futures; // as they were given
};

namespace detail {

// Calls f(core, index) for each.
template <class T, class F> void for_each_state(std::vector<future<T>> const& futures, F f) {
    for (std::size_t k = 0; k < futures.size(); ++k)
        f(static_cast<future_core&>(future_access::state(futures[k])), k);
}
template <class... T, class F> void for_each_state(std::tuple<future<T>...> const& futures, F f) {
    std::size_t k = 0;
    std::apply(
        [&](auto const&... each) {
            (f(static_cast<future_core&>(future_access::state(each)), k++), ...);
        },
        futures);
}
template <class Futures> std::size_t count_of(Futures const& futures) {
    std::size_t count = 0;
    for_each_state(futures, [&count](future_core&, std::size_t) { ++count; });
    return count;
}

// What waits for several states: a callback for each, with a reference each, and a reference of the
// thread that sets it up.
template <class Gate> struct gate_callback : future_callback {
    Gate* gate = nullptr;
    std::size_t index = 0;

    static void arrive(future_callback* c) noexcept {
        auto* const self = static_cast<gate_callback*>(c);
        self->gate->has_come(self->index);
        self->gate->release();
    }
};
template <class Gate, class Futures> struct gate_base {
    using node = gate_callback<Gate>;

    explicit gate_base(Futures given)
        : futures(std::move(given)),
          count(count_of(futures)),
          nodes(new node[count]),
          references(count + 1) {}

    // The states belong to the futures here; those stay until all callbacks are with them.
    void set_up() {
        for_each_state(futures, [this](future_core& core, std::size_t k) {
            nodes[k].run = &node::arrive;
            nodes[k].gate = static_cast<Gate*>(this);
            nodes[k].index = k;
            if (!core.add(nodes[k])) node::arrive(&nodes[k]);
        });
        static_cast<Gate*>(this)->is_set_up();
        release();
    }
    void release() noexcept {
        if (!detail::drop_reference(references)) return;
        callbacks_apart const apart;
        delete static_cast<Gate*>(this);
    }

    Futures futures;
    std::size_t count;
    std::unique_ptr<node[]> nodes;
    std::atomic<std::size_t> references;
};

template <class Futures> struct all_gate : gate_base<all_gate<Futures>, Futures> {
    explicit all_gate(Futures given)
        : gate_base<all_gate, Futures>(std::move(given)), left(this->count + 1) {}

    void has_come(std::size_t) noexcept { count_down(); }
    void is_set_up() noexcept { count_down(); }
    // acq_rel: the last one passes on what all have released.
    void count_down() noexcept {
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1)
            done.set_value(std::move(this->futures));
    }

    std::atomic<std::size_t> left;
    promise<Futures> done;
};

template <class Futures> struct any_gate : gate_base<any_gate<Futures>, Futures> {
    using result = when_any_result<Futures>;
    static constexpr std::size_t k_none = static_cast<std::size_t>(-1);

    explicit any_gate(Futures given)
        : gate_base<any_gate, Futures>(std::move(given)), left(this->count == 0 ? 1 : 2) {}

    // relaxed: count_down passes it on.
    void has_come(std::size_t index) noexcept {
        std::size_t expected = k_none;
        if (first.compare_exchange_strong(expected, index, std::memory_order_relaxed,
                                          std::memory_order_relaxed))
            count_down();
    }
    void is_set_up() noexcept { count_down(); }
    // Set up, and one has come. acq_rel: pairs with the other of them.
    void count_down() noexcept {
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1)
            done.set_value(result{first.load(std::memory_order_relaxed), std::move(this->futures)});
    }

    std::atomic<std::size_t> first{k_none};
    std::atomic<int> left;
    promise<result> done;
};

template <class Gate, class Futures> auto open_gate(Futures futures) {
    auto gate = std::make_unique<Gate>(std::move(futures));
    auto result = gate->done.get_future();
    gate.release()->set_up();
    return result;
}

} // namespace detail

// Ready when all are, with the futures as they were given. Errors: std::bad_alloc;
// std::future_error (no_state): one is not valid.
template <class T>
[[nodiscard]] future<std::vector<future<T>>> when_all(std::vector<future<T>> futures) {
    return detail::open_gate<detail::all_gate<std::vector<future<T>>>>(std::move(futures));
}
template <class... T>
[[nodiscard]] future<std::tuple<future<T>...>> when_all(future<T>... futures) {
    return detail::open_gate<detail::all_gate<std::tuple<future<T>...>>>(
        std::tuple<future<T>...>(std::move(futures)...));
}

// Ready when one is. The others come later, in the same futures.
template <class T>
[[nodiscard]] future<when_any_result<std::vector<future<T>>>>
when_any(std::vector<future<T>> futures) {
    return detail::open_gate<detail::any_gate<std::vector<future<T>>>>(std::move(futures));
}
template <class... T>
[[nodiscard]] future<when_any_result<std::tuple<future<T>...>>> when_any(future<T>... futures) {
    return detail::open_gate<detail::any_gate<std::tuple<future<T>...>>>(
        std::tuple<future<T>...>(std::move(futures)...));
}

} // namespace tulle
