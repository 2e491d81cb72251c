// SPDX-License-Identifier: Apache-2.0
#include "messenger/image.hpp"

#include "temporary_path.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

namespace {

using tulle::messenger::code_name;
using tulle::messenger::code_of;
using tulle::messenger::name_of;

class loaded_library {
public:
    explicit loaded_library(std::string const& name)
        : m_handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
    ~loaded_library() {
        if (m_handle != nullptr) dlclose(m_handle);
    }
    loaded_library(loaded_library const&) = delete;
    loaded_library& operator=(loaded_library const&) = delete;

    [[nodiscard]] bool is_loaded() const { return m_handle != nullptr; }
    [[nodiscard]] std::string file() const { return static_cast<link_map*>(m_handle)->l_name; }
    [[nodiscard]] void* content() const { return static_cast<link_map*>(m_handle)->l_ld; }

private:
    void* m_handle;
};

// A small library of the system, and the same with another build-id.
class two_libraries {
public:
    two_libraries() {
        loaded_library const small("libutil.so.1");
        if (!small.is_loaded()) return;
        std::ifstream file(small.file(), std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        std::string const note_of_build_id("\3\0\0\0GNU\0", 8);
        std::size_t const at = bytes.find(note_of_build_id);
        if (at == std::string::npos) return;
        write(m_first.get(), bytes);
        bytes[at + note_of_build_id.size()] ^= 1;
        write(m_second.get(), bytes);
        m_exist = true;
    }
    [[nodiscard]] bool exist() const { return m_exist; }
    [[nodiscard]] std::string first() const { return m_first.get(); }
    [[nodiscard]] std::string second() const { return m_second.get(); }

private:
    static void write(std::string const& path, std::string const& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
    }

    temporary_path m_first;
    temporary_path m_second;
    bool m_exist = false;
};

TEST(image, name_of_code_leads_back_to_it) {
    void* const code = reinterpret_cast<void*>(&name_of);
    EXPECT_NE(name_of(code), code_name{0});
    EXPECT_EQ(code_of(name_of(code)), code);
    EXPECT_EQ(name_of(&code), code_name{0}); // on the stack
}

TEST(image, library_that_takes_the_place_of_another_one_has_names_of_its_own) {
    two_libraries const files;
    if (!files.exist()) GTEST_SKIP() << "the system has no libutil.so.1 with a build-id";
    bool have_met = false;
    for (int round = 0; round < 20 && !have_met; ++round) {
        std::optional<loaded_library> library(files.first());
        ASSERT_TRUE(library->is_loaded());
        void* const content = library->content();
        code_name const first = name_of(content);
        ASSERT_NE(first, code_name{0});
        EXPECT_EQ(name_of(content), first);
        library.reset();
        library.emplace(files.second());
        ASSERT_TRUE(library->is_loaded());
        have_met = library->content() == content;
        if (have_met) {
            EXPECT_NE(name_of(content), first);
            EXPECT_EQ(code_of(name_of(content)), content);
        }
    }
    if (!have_met) GTEST_SKIP() << "the system loads no library where another one was";
}

TEST(image, what_is_unloaded_has_no_name) {
    two_libraries const files;
    if (!files.exist()) GTEST_SKIP() << "the system has no libutil.so.1 with a build-id";
    std::optional<loaded_library> library(files.first());
    ASSERT_TRUE(library->is_loaded());
    void* const content = library->content();
    EXPECT_NE(name_of(content), code_name{0});
    library.reset();
    EXPECT_EQ(name_of(content), code_name{0});
}

} // namespace
