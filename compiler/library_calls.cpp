// SPDX-License-Identifier: Apache-2.0
#include "library_calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cwchar>
#include <string>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

struct known {
    char const* function;
    part what;
};

constexpr part loads(unsigned pointer, int count, int size = k_none) {
    return {pointer, extent::objects, count, size, mode::load};
}
constexpr part stores(unsigned pointer, int count, int size = k_none) {
    return {pointer, extent::objects, count, size, mode::store};
}
constexpr part reads(unsigned pointer, int most = k_none) {
    return {pointer, extent::string, most};
}
// A string that ends with a byte.
constexpr part finds(unsigned pointer, int byte, int most = k_none) {
    part made = reads(pointer, most);
    made.end = byte;
    return made;
}
constexpr part stores_counted(unsigned pointer, int count) {
    part made = stores(pointer, count);
    made.is_counted = true;
    return made;
}
// Functions of Tulle let other threads run while they wait.
constexpr part stores_late(unsigned pointer, int count) {
    part made = stores_counted(pointer, count);
    made.is_late = true;
    return made;
}
constexpr part takes(unsigned pointer, int string, int most = k_none) {
    return {pointer, extent::as_string, string, most, mode::store};
}
constexpr part takes_found(unsigned pointer, int string, int byte, int most) {
    part made = takes(pointer, string, most);
    made.end = byte;
    return made;
}
constexpr part appends(unsigned pointer, int string, int most = k_none) {
    return {pointer, extent::after_string, string, most, mode::store};
}

constexpr std::array k_known{
    known{"read", stores_counted(1, 2)},
    known{"pread", stores_counted(1, 2)},
    known{"pread64", stores_counted(1, 2)},
    known{"recv", stores_counted(1, 2)},
    known{"recvfrom", stores_counted(1, 2)},
    known{"fread", stores(0, 2, 1)},
    known{"fread_unlocked", stores(0, 2, 1)},
    known{"fgets", stores(0, 1)},
    known{"getcwd", stores(0, 1)},
    known{"getrandom", stores(0, 1)},
    known{"write", loads(1, 2)},
    known{"pwrite", loads(1, 2)},
    known{"pwrite64", loads(1, 2)},
    known{"send", loads(1, 2)},
    known{"sendto", loads(1, 2)},
    known{"sendto", loads(4, 5)},
    known{"fwrite", loads(0, 2, 1)},
    known{"fwrite_unlocked", loads(0, 2, 1)},
    known{"memcmp", loads(0, 2)},
    known{"memcmp", loads(1, 2)},
    known{"bcmp", loads(0, 2)},
    known{"bcmp", loads(1, 2)},
    known{"memchr", finds(0, 1, 2)},
    known{"rawmemchr", finds(0, 1)},
    known{"memrchr", loads(0, 2)},
    known{"qsort", stores(0, 1, 2)},
    known{"mempcpy", stores(0, 2)},
    known{"mempcpy", loads(1, 2)},
    known{"memccpy", takes_found(0, 1, 2, 3)},
    known{"memccpy", finds(1, 2, 3)},
    known{"bcopy", stores(1, 2)},
    known{"bcopy", loads(0, 2)},
    known{"bzero", stores(0, 1)},
    known{"explicit_bzero", stores(0, 1)},
    // These three are mostly intrinsics; not so where they are fortified.
    known{"memcpy", stores(0, 2)},
    known{"memcpy", loads(1, 2)},
    known{"memmove", stores(0, 2)},
    known{"memmove", loads(1, 2)},
    known{"memset", stores(0, 2)},
    known{"strlen", reads(0)},
    known{"strnlen", reads(0, 1)},
    known{"strcmp", reads(0)},
    known{"strcmp", reads(1)},
    known{"strncmp", reads(0, 2)},
    known{"strncmp", reads(1, 2)},
    known{"strcasecmp", reads(0)},
    known{"strcasecmp", reads(1)},
    known{"strncasecmp", reads(0, 2)},
    known{"strncasecmp", reads(1, 2)},
    known{"strcoll", reads(0)},
    known{"strcoll", reads(1)},
    known{"strchr", reads(0)},
    known{"strrchr", reads(0)},
    known{"strchrnul", reads(0)},
    known{"strstr", reads(0)},
    known{"strstr", reads(1)},
    known{"strcasestr", reads(0)},
    known{"strcasestr", reads(1)},
    known{"strspn", reads(0)},
    known{"strspn", reads(1)},
    known{"strcspn", reads(0)},
    known{"strcspn", reads(1)},
    known{"strpbrk", reads(0)},
    known{"strpbrk", reads(1)},
    known{"strdup", reads(0)},
    known{"strndup", reads(0, 1)},
    known{"atoi", reads(0)},
    known{"atol", reads(0)},
    known{"atoll", reads(0)},
    known{"atof", reads(0)},
    known{"sscanf", reads(0)},
    known{"puts", reads(0)},
    known{"fputs", reads(0)},
    known{"perror", reads(0)},
    known{"fopen", reads(0)},
    known{"fopen", reads(1)},
    known{"fopen64", reads(0)},
    known{"fopen64", reads(1)},
    known{"open", reads(0)},
    known{"open64", reads(0)},
    known{"__open_2", reads(0)},
    known{"__open64_2", reads(0)},
    known{"readlink", reads(0)},
    known{"readlink", stores(1, 2)},
    known{"gethostname", stores(0, 1)},
    known{"getenv", reads(0)},
    known{"strcpy", takes(0, 1)},
    known{"strcpy", reads(1)},
    known{"stpcpy", takes(0, 1)},
    known{"stpcpy", reads(1)},
    known{"strncpy", stores(0, 2)},
    known{"strncpy", reads(1, 2)},
    known{"stpncpy", stores(0, 2)},
    known{"stpncpy", reads(1, 2)},
    known{"strcat", appends(0, 1)},
    known{"strcat", reads(1)},
    known{"strncat", appends(0, 1, 2)},
    known{"strncat", reads(1, 2)},
    // Fortified, with the size of what is stored to ahead of others.
    known{"__fread_chk", stores(0, 3, 2)},
    known{"__fread_unlocked_chk", stores(0, 3, 2)},
    known{"__fgets_chk", stores(0, 2)},
    known{"__fgets_unlocked_chk", stores(0, 2)},
    // <tulle/c/io.h>
    known{"tulle_read", stores_late(1, 2)},
    known{"tulle_pread", stores_late(1, 2)},
    known{"tulle_recv", stores_late(1, 2)},
    known{"tulle_recvfrom", stores_late(1, 2)},
    known{"tulle_write", loads(1, 2)},
    known{"tulle_pwrite", loads(1, 2)},
    known{"tulle_send", loads(1, 2)},
    known{"tulle_sendto", loads(1, 2)},
    known{"tulle_sendto", loads(4, 5)},
    known{"tulle_open", reads(0)},
};

// The number that a string begins with; where it ends is stored, and may be a pointer into what is
// lent, so that by the directory nothing is lent to a call that asks for it.
constexpr std::array k_numbers{"strtol",  "strtoul",  "strtod", "strtof",
                               "strtoll", "strtoull", "strtold"};
constexpr part k_end_of_number{1, extent::bytes, k_none, k_none, mode::store, sizeof(char*)};

// Where the format of a function is, with the values of the conversions behind it.
struct formatted {
    char const* function;
    unsigned format;
    bool scans;
    int stored = k_none; // where it prints to
    int most = k_none;   // a number of bytes
};

constexpr std::array k_formatted{formatted{"printf", 0, false},
                                 formatted{"fprintf", 1, false},
                                 formatted{"dprintf", 1, false},
                                 formatted{"sprintf", 1, false, 0},
                                 formatted{"snprintf", 2, false, 0, 1},
                                 formatted{"scanf", 0, true},
                                 formatted{"fscanf", 1, true},
                                 formatted{"sscanf", 1, true},
                                 formatted{"__printf_chk", 1, false},
                                 formatted{"__fprintf_chk", 2, false},
                                 formatted{"__dprintf_chk", 2, false},
                                 formatted{"__sprintf_chk", 3, false, 0},
                                 formatted{"__snprintf_chk", 4, false, 0, 1}};

// A conversion of a format.
struct conversion {
    int width = k_none; // or precision, where a string is printed: a number
    int width_argument = k_none;
    bool is_suppressed = false;
    std::string length;
    char letter = 0;
};

// Goes through a format, and counts the arguments that it takes.
class format_reader {
public:
    format_reader(StringRef text, bool scans, unsigned first)
        : m_text(text), m_scans(scans), m_next(first) {}

    parts read() {
        while (m_at < m_text.size()) {
            if (m_text[m_at++] != '%') continue;
            if (peek() == '%') {
                ++m_at;
                continue;
            }
            conversion const c = m_scans ? scanned() : printed();
            if (m_has_position) return {}; // arguments by number
            add(c);
        }
        return m_found;
    }
    // Whether read() has found all that the call reads and stores.
    [[nodiscard]] bool has_found_all() const { return !m_has_position && !m_is_unknown; }

private:
    [[nodiscard]] char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    void skip(StringRef letters) {
        while (peek() != '\0' && letters.contains(peek())) ++m_at;
    }
    int number() {
        if (std::isdigit(static_cast<unsigned char>(peek())) == 0) return k_none;
        int value = 0;
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0)
            value = value * 10 + (m_text[m_at++] - '0');
        if (peek() == '$') m_has_position = true;
        return value;
    }
    bool takes_star() {
        if (peek() != '*') return false;
        ++m_at;
        return true;
    }
    void read_kind(conversion& c) {
        std::size_t const from = m_at;
        skip(m_scans ? "hlLqjztm" : "hlLqjzt");
        c.length = m_text.slice(from, m_at).str();
        c.letter = peek();
        if (c.letter != '\0') ++m_at;
    }
    conversion printed() {
        conversion c;
        skip("-+ #0'I");
        if (takes_star())
            ++m_next;
        else
            static_cast<void>(number());
        if (peek() == '.') {
            ++m_at;
            if (takes_star())
                c.width_argument = static_cast<int>(m_next++);
            else
                c.width = std::max(number(), 0);
        }
        read_kind(c);
        return c;
    }
    conversion scanned() {
        conversion c;
        c.is_suppressed = takes_star();
        c.width = number();
        read_kind(c);
        if (c.letter == '[') skip_set();
        return c;
    }
    void skip_set() {
        if (peek() == '^') ++m_at;
        if (peek() == ']') ++m_at;
        while (peek() != '\0' && m_text[m_at++] != ']') continue;
    }
    void add(conversion const& c) {
        if (c.is_suppressed || (!m_scans && c.letter == 'm')) return;
        unsigned const argument = m_next++;
        if (m_scans) return add_scanned(argument, c);
        bool const is_wide = c.letter == 'S' || (c.letter == 's' && !c.length.empty());
        m_is_unknown |= c.letter == 'n' || is_wide;
        if (c.letter != 's' || !c.length.empty()) return;
        part made{argument, extent::string, c.width_argument};
        if (c.width >= 0) made.most = static_cast<std::uint64_t>(c.width);
        m_found.push_back(made);
    }
    void add_scanned(unsigned argument, conversion const& c) {
        std::uint64_t const bytes = bytes_scanned(c);
        m_is_unknown |= bytes == 0;
        if (bytes != 0)
            m_found.push_back({argument, extent::bytes, k_none, k_none, mode::store, bytes});
    }
    // 0: not known.
    static std::uint64_t bytes_scanned(conversion const& c) {
        bool const is_wide = c.length == "l" || c.letter == 'S' || c.letter == 'C';
        std::uint64_t const unit = is_wide ? sizeof(wchar_t) : 1;
        auto const width = static_cast<std::uint64_t>(std::max(c.width, 0));
        if (c.length.find('m') != std::string::npos) return sizeof(char*);
        switch (c.letter) {
            case 's':
            case 'S':
            case '[': return c.width == k_none ? 0 : (width + 1) * unit;
            case 'c':
            case 'C': return std::max<std::uint64_t>(width, 1) * unit;
            case 'a':
            case 'e':
            case 'f':
            case 'g':
            case 'A':
            case 'E':
            case 'F':
            case 'G':
                return c.length == "L"   ? sizeof(long double)
                       : c.length == "l" ? sizeof(double)
                                         : sizeof(float);
            case 'p': return sizeof(void*);
            default: return bytes_of_integer(c.length);
        }
    }
    static std::uint64_t bytes_of_integer(std::string const& length) {
        if (length == "hh") return sizeof(char);
        if (length == "h") return sizeof(short);
        return length.empty() ? sizeof(int) : sizeof(long);
    }

    StringRef m_text;
    bool m_scans;
    unsigned m_next;
    std::size_t m_at = 0;
    bool m_has_position = false;
    bool m_is_unknown = false;
    parts m_found;
};

bool is_listed(StringRef name) {
    return any_of(k_known, [&](known const& k) { return name == k.function; }) ||
           any_of(k_formatted, [&](formatted const& f) { return name == f.function; });
}

// Headers of the C library give some functions names by the standard that they are of, and others
// where they are fortified: most have the size of what they store to behind their own arguments.
// Those of Tulle that wait have a limit there.
StringRef standard_name(Function const& f) {
    StringRef name = f.getName();
    for (char const* const standard : {"__isoc99_", "__isoc23_"})
        if (name.consume_front(standard)) break;
    if (is_listed(name)) return name;
    StringRef plain = name;
    bool const is_other = (plain.consume_front("__") && plain.consume_back("_chk")) ||
                          (name.find("tulle_") == 0 && plain.consume_back("_within"));
    return is_other ? plain : name;
}

// In one register, whatever the type that the function has for it.
bool is_number(CallBase const& call, int argument) {
    if (argument == k_none) return true;
    if (argument >= static_cast<int>(call.arg_size())) return false;
    Type const& type = *call.getArgOperand(static_cast<unsigned>(argument))->getType();
    return type.isIntegerTy() && type.getIntegerBitWidth() <= 64;
}

bool is_pointer(CallBase const& call, unsigned argument) {
    return argument < call.arg_size() && call.getArgOperand(argument)->getType()->isPointerTy();
}

bool fits(CallBase const& call, part const& p) {
    bool const is_of_string = p.how_far == extent::as_string || p.how_far == extent::after_string ||
                              p.how_far == extent::printed;
    return is_pointer(call, p.pointer) && is_number(call, p.b) && is_number(call, p.end) &&
           (is_of_string ? is_pointer(call, static_cast<unsigned>(p.a)) : is_number(call, p.a));
}

bool is_number_reader(CallBase const& call) {
    StringRef const name = standard_name(*function_of(call));
    return is_contained(k_numbers, name) && is_pointer(call, 0) && is_pointer(call, 1) &&
           (chosen_scheme() != scheme::directory ||
            isa<ConstantPointerNull>(call.getArgOperand(1)));
}

bool read_format(CallBase const& call, formatted const& f, StringRef& text) {
    return is_pointer(call, f.format) && getConstantStringInfo(call.getArgOperand(f.format), text);
}

void add_formatted(CallBase const& call, formatted const& f, parts& found) {
    StringRef text;
    if (!read_format(call, f, text)) return;
    for (part const& p : format_reader(text, f.scans, f.format + 1).read())
        if (fits(call, p)) found.push_back(p);
}

// Last, when what it prints may be loaded.
void add_printed(CallBase const& call, formatted const& f, parts& found) {
    if (f.stored == k_none) return;
    part const made{static_cast<unsigned>(f.stored), extent::printed, static_cast<int>(f.format),
                    f.most, mode::store};
    if (fits(call, made)) found.push_back(made);
}

} // namespace

Function const* function_of(CallBase const& call) {
    return dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
}

// The program may have a function of that name itself.
parts parts_of(CallBase const& call) {
    Function const* const callee = function_of(call);
    if (callee == nullptr || !callee->isDeclaration()) return {};
    parts found;
    StringRef const name = standard_name(*callee);
    for (known const& k : k_known)
        if (name == k.function && fits(call, k.what)) found.push_back(k.what);
    if (is_number_reader(call)) {
        found.push_back(reads(0));
        if (!isa<ConstantPointerNull>(call.getArgOperand(1))) found.push_back(k_end_of_number);
    }
    for (formatted const& f : k_formatted) {
        if (name != f.function) continue;
        add_formatted(call, f, found);
        add_printed(call, f, found);
    }
    return found;
}

bool has_known_format(CallBase const& call) {
    Function const* const callee = function_of(call);
    return callee == nullptr || none_of(k_formatted, [&](formatted const& f) {
               StringRef text;
               if (standard_name(*callee) != f.function) return false;
               if (!read_format(call, f, text)) return true;
               format_reader reader(text, f.scans, f.format + 1);
               static_cast<void>(reader.read());
               return !reader.has_found_all();
           });
}

} // namespace tulle::compiler
