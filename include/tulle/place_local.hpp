// SPDX-License-Identifier: Apache-2.0
// An object of which each place has its own.
//   auto const counts = tulle::place_local<std::vector<long>>::make(
//       [](int n) { return std::vector<long>(n); }, 100);
//   tulle::at(p, [](auto own, int k) { ++(*own)[k]; }, counts, 7);
// Source: PlaceLocalHandle of X10.
#pragma once

#include <tulle/detail/collective.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/finish.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace tulle {

// Names the objects; copies name the same ones. Travels. Contexts: any thread of the process.
template <class T> class place_local {
public:
    // At each place what `f(arguments...)` returns there, which need be neither copied nor moved.
    // Callable and arguments travel. Errors: those of finish(); then there are none.
    template <class F, class... A>
    [[nodiscard]] static place_local make(F f, A const&... arguments) {
        place_local const made(detail::new_name());
        TULLE_TRY {
            finish([&](activities& all) {
                for (place const p : places())
                    all.async_at(
                        p,
                        [](std::uint64_t name, F make_one, A const&... values) {
                            auto const one = std::make_shared<holder>(make_one, values...);
                            detail::set_local_object(
                                name, std::shared_ptr<T>(one, std::addressof(one->object)));
                        },
                        made.m_name, f, arguments...);
            });
        }
        TULLE_CATCH(...) {
            made.destroy();
            TULLE_RETHROW;
        }
        return made;
    }

    // The calling thread's place's own; it lives until destroy(). Errors: std::logic_error: there
    // is none any more.
    [[nodiscard]] T& operator*() const {
        auto const found = detail::local_object(m_name);
        if (found == nullptr)
            TULLE_THROW(std::logic_error("tulle::place_local: there is no object here any more"));
        return *static_cast<T*>(found.get());
    }
    [[nodiscard]] T* operator->() const { return std::addressof(**this); }

    // Destroys those of all places; a place that has died has none. Nobody may be using them.
    void destroy() const {
        TULLE_TRY {
            finish([name = m_name](activities& all) {
                for (place const p : places()) destroy_at(all, p, name);
            });
        }
        TULLE_CATCH(dead_place const&) {} // one that has died meanwhile
    }

private:
    static void destroy_at(activities& all, place p, std::uint64_t name) {
        TULLE_TRY {
            all.async_at(
                p, [](std::uint64_t gone) { detail::set_local_object(gone, nullptr); }, name);
        }
        TULLE_CATCH(dead_place const&) {}
    }

    // What a callable returns is made in its place.
    struct holder {
        template <class F, class... A>
        explicit holder(F& make_one, A const&... values)
            : object(detail::invoke(make_one, values...)) {}
        T object;
    };

    explicit place_local(std::uint64_t name) noexcept : m_name(name) {}

    std::uint64_t m_name;
};

} // namespace tulle
