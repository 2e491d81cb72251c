// SPDX-License-Identifier: Apache-2.0
#include "messenger/exception_wire.hpp"

#include <tulle/finish.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/place.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <variant>
#include <vector>

#include <cxxabi.h>

namespace tulle::messenger {

namespace {

// Lists within lists: more of them are not sent, and not taken, as each needs a part of the stack.
constexpr int k_most_lists = 50;

enum class form : std::uint8_t { known, no_memory, generic_code, system_code, list, remote, death };

// Exceptions that are made from a text, or from nothing.
struct known_type {
    std::type_info const* type;
    std::exception_ptr (*make)(std::string const& what);
};
template <class E> constexpr known_type known() {
    return {&typeid(E), [](std::string const& what) {
                if constexpr (std::is_constructible_v<E, std::string const&>)
                    return std::make_exception_ptr(E(what));
                else
                    return std::make_exception_ptr(E());
            }};
}
// <tulle/place.hpp> lists them.
constexpr std::array k_known_types{known<std::runtime_error>(),
                                   known<std::logic_error>(),
                                   known<std::invalid_argument>(),
                                   known<std::domain_error>(),
                                   known<std::length_error>(),
                                   known<std::out_of_range>(),
                                   known<std::range_error>(),
                                   known<std::overflow_error>(),
                                   known<std::underflow_error>(),
                                   known<wire_error>(),
                                   known<std::bad_array_new_length>(),
                                   known<out_of_global_memory>(),
                                   known<std::bad_cast>(),
                                   known<std::bad_typeid>(),
                                   known<std::bad_function_call>(),
                                   known<std::bad_weak_ptr>(),
                                   known<std::bad_optional_access>(),
                                   known<std::bad_variant_access>()};

} // namespace

std::string readable_name(std::type_info const& type) {
    int error = 0;
    std::unique_ptr<char, void (*)(void*)> const text(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &error), &std::free);
    return error == 0 ? text.get() : type.name();
}

std::type_info const& handled_type() noexcept {
    std::type_info const* const type = abi::__cxa_current_exception_type();
    return type != nullptr ? *type : typeid(void);
}

namespace {

void put_remote(wire_writer& out, int place, std::string const& type, std::string const& what) {
    out.put(form::remote);
    out.put(place);
    out.put(type);
    out.put(what);
}

void put_death(wire_writer& out, dead_place const& e) {
    out.put(form::death);
    out.put(e.place());
    out.put(e.lost());
    out.put(std::string(e.what()));
}

// `e` is the exception that is being handled, here and below.
void put_standard(wire_writer& out, std::exception const& e, int here) {
    auto const& types = k_known_types;
    for (std::size_t k = 0; k < types.size(); ++k) {
        if (*types[k].type != handled_type()) continue;
        out.put(form::known);
        out.put(k);
        return out.put(std::string(e.what()));
    }
    put_remote(out, here, readable_name(handled_type()), e.what());
}

void put_code(wire_writer& out, std::system_error const& e, int here) {
    bool const is_generic = e.code().category() == std::generic_category();
    if (handled_type() != typeid(std::system_error) ||
        (!is_generic && e.code().category() != std::system_category()))
        return put_standard(out, e, here);
    out.put(is_generic ? form::generic_code : form::system_code);
    out.put(e.code().value());
    // what() is "text: message of the code", or the message alone; the message is made anew.
    std::string what = e.what();
    std::string const message = e.code().message();
    if (what == message) what.clear();
    if (what.ends_with(": " + message)) what.resize(what.size() - message.size() - 2);
    out.put(what);
}

void put_within(wire_writer& out, std::exception_ptr const& e, int here, int lists);

void put_list(wire_writer& out, exception_list const& e, int here, int lists) {
    if (lists == k_most_lists)
        return put_remote(out, here, readable_name(handled_type()), e.what());
    out.put(form::list);
    out.put(std::uint64_t{e.all().size()});
    for (auto const& one : e.all()) put_within(out, one, here, lists + 1);
}

// In so many lists.
void put_within(wire_writer& out, std::exception_ptr const& e, int here, int lists) {
    try {
        std::rethrow_exception(e);
    } catch (remote_error const& remote) {
        put_remote(out, remote.place(), remote.type(), remote.text());
    } catch (dead_place const& death) {
        put_death(out, death);
    } catch (exception_list const& list) {
        put_list(out, list, here, lists);
    } catch (std::system_error const& code) {
        put_code(out, code, here);
    } catch (std::bad_alloc const& memory) {
        if (handled_type() != typeid(std::bad_alloc)) return put_standard(out, memory, here);
        out.put(form::no_memory);
    } catch (std::exception const& standard) {
        put_standard(out, standard, here);
    } catch (...) {
        put_remote(out, here, readable_name(handled_type()),
                   "an exception that is not a std::exception");
    }
}

std::exception_ptr get_within(wire_reader& in, int lists);

std::exception_ptr get_code(wire_reader& in, std::error_category const& category) {
    int const value = in.get<int>();
    auto const text = in.get<std::string>();
    return std::make_exception_ptr(text.empty() ? std::system_error(value, category)
                                                : std::system_error(value, category, text));
}

std::exception_ptr get_list(wire_reader& in, int lists) {
    if (lists == k_most_lists) throw wire_error("tulle: a message has lists within lists");
    std::vector<std::exception_ptr> all;
    for (std::size_t left = in.get_count(1); left != 0; --left)
        all.push_back(get_within(in, lists + 1));
    return std::make_exception_ptr(exception_list(std::move(all)));
}

std::exception_ptr get_remote(wire_reader& in) {
    int const place = in.get<int>();
    auto type = in.get<std::string>();
    return std::make_exception_ptr(remote_error(place, std::move(type), in.get<std::string>()));
}

std::exception_ptr get_death(wire_reader& in) {
    int const place = in.get<int>();
    auto const lost = in.get<std::uint64_t>();
    return std::make_exception_ptr(dead_place(place, lost, in.get<std::string>()));
}

std::exception_ptr get_within(wire_reader& in, int lists) {
    switch (in.get<form>()) {
        case form::known: {
            auto const index = in.get<std::size_t>();
            if (index >= k_known_types.size()) break;
            return k_known_types[index].make(in.get<std::string>());
        }
        case form::no_memory: return std::make_exception_ptr(std::bad_alloc());
        case form::generic_code: return get_code(in, std::generic_category());
        case form::system_code: return get_code(in, std::system_category());
        case form::list: return get_list(in, lists);
        case form::remote: return get_remote(in);
        case form::death: return get_death(in);
    }
    throw wire_error("tulle: a message holds no exception");
}

} // namespace

void put_exception(wire_writer& out, std::exception_ptr const& e, int here) {
    put_within(out, e, here, 0);
}

std::exception_ptr get_exception(wire_reader& in) { return get_within(in, 0); }

std::exception_ptr shortened(std::exception_ptr const& e, int here) {
    constexpr std::size_t k_most_text = 400;
    try {
        std::rethrow_exception(e);
    } catch (std::exception const& standard) {
        return std::make_exception_ptr(
            remote_error(here, "", std::string(standard.what()).substr(0, k_most_text) + " ..."));
    } catch (...) {
        return std::make_exception_ptr(
            remote_error(here, "", "an exception that is not a std::exception"));
    }
}

} // namespace tulle::messenger
