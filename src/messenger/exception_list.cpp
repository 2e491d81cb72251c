// SPDX-License-Identifier: Apache-2.0
#include "messenger/exception_wire.hpp"

#include <tulle/finish.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tulle {

namespace {

// A list within a list says what its own first one says, so that the text would grow with each.
constexpr std::size_t k_most_text_of_first = 400;

void append_text(std::string& text, char const* first) {
    std::size_t const length = std::char_traits<char>::length(first);
    if (length <= k_most_text_of_first) {
        text += first;
    } else {
        text.append(first, k_most_text_of_first);
        text += " ...";
    }
}

void append_first(std::string& text, std::exception_ptr const& first) {
    text += "; the first: ";
    try {
        std::rethrow_exception(first);
    } catch (std::exception const& e) {
        append_text(text, e.what());
    } catch (...) {
        text += "an exception of type ";
        append_text(text, messenger::readable_name(messenger::handled_type()).c_str());
    }
}

std::string text_of(std::vector<std::exception_ptr> const& all) {
    std::string const count = "tulle::finish: " + std::to_string(all.size()) +
                              (all.size() == 1 ? " exception" : " exceptions");
    if (all.empty() || all.front() == nullptr) return count;
    try {
        std::string text = count;
        append_first(text, all.front());
        return text;
    } catch (std::bad_alloc const&) { // the list itself says more
        return count;
    }
}

} // namespace

exception_list::exception_list(std::vector<std::exception_ptr> all)
    : std::runtime_error(text_of(all)), m_all(std::move(all)) {}

} // namespace tulle
