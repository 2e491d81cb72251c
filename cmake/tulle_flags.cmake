# SPDX-License-Identifier: Apache-2.0
#
# tulle_flags: what every target of this tree is compiled and linked with. It is never installed.
add_library(tulle_flags INTERFACE)

set(c_or_cxx $<COMPILE_LANGUAGE:C,CXX>)
target_compile_options(tulle_flags INTERFACE
    "$<${c_or_cxx}:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>"
    # Another project has a compiler of its own choice, which may know warnings that nobody has seen here.
    $<$<BOOL:${PROJECT_IS_TOP_LEVEL}>:$<${c_or_cxx}:-Werror>>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-gnu-zero-variadic-macro-arguments>) # GoogleTest's typed tests

# gcc 12 and 13 see an overlap in `"literal" + std::string` that is not there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(tulle_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# gcc looks for garbage whenever its heap has doubled, from 128 MB on, and finds little: large files compile in three quarters of the time without,
# within a gigabyte.
if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(tulle_flags INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1048576>")
endif()

# Landing pads for indirect jumps; no shadow stack, which a switch of stacks would have to switch as well.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_compile_options(tulle_flags INTERFACE -fcf-protection=branch)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$") # and signed return addresses
    target_compile_options(tulle_flags INTERFACE -mbranch-protection=standard)
endif()

if(TULLE_SANITIZE STREQUAL "address")
    # Three checks find what the address sanitizer finds as well, and make compiling a third slower. Unit tests, which are checked for errors in memory
    # alone, compile in two thirds of the time; what they inline from headers is in the library and in programs of tests, too.
    set(undefined $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TULLE_ERRORS_IN_MEMORY_ONLY>>>:-fsanitize=undefined>)
    set(sanitizers -fsanitize=address,undefined)
    set(sanitize_flags -fsanitize=address ${undefined} -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=all)
elseif(TULLE_SANITIZE STREQUAL "thread")
    set(sanitizers -fsanitize=thread)
    set(sanitize_flags ${sanitizers})
    # gcc warns of every atomic_thread_fence, which TSan cannot model: it may report too much, never too little.
    target_compile_options(tulle_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
elseif(NOT TULLE_SANITIZE STREQUAL "none")
    message(FATAL_ERROR "TULLE_SANITIZE is '${TULLE_SANITIZE}'; it must be none, address or thread")
endif()
if(NOT TULLE_SANITIZE STREQUAL "none")
    # Reports name functions and lines; they need no more of the debug information. As flags of the configuration these come before a target's own.
    foreach(language C CXX)
        set(CMAKE_${language}_FLAGS_DEBUG "-O1 -g1")
        set(CMAKE_${language}_FLAGS_RELEASE "-O1 -g1 -DNDEBUG")
    endforeach()
    target_compile_options(tulle_flags INTERFACE ${sanitize_flags} -fno-omit-frame-pointer)
    # Accesses are checked by functions of the run time, not in place: the library compiles in three quarters of the time.
    if(TULLE_SANITIZE STREQUAL "address")
        target_compile_options(tulle_flags INTERFACE
            "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param asan-instrumentation-with-call-threshold=0>")
    endif()
    # gcc does not see through the checks which variables have a value (its manual says so of -fsanitize).
    target_compile_options(tulle_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    target_link_options(tulle_flags INTERFACE ${sanitizers})
endif()
# A process whose addresses are spread further than the sanitizer's shadow allows for dies at start.
if(TULLE_SANITIZE STREQUAL "thread")
    find_program(setarch_program setarch NO_CACHE)
    if(setarch_program)
        set(CMAKE_CROSSCOMPILING_EMULATOR ${setarch_program} --addr-no-randomize)
    endif()
endif()

if(TULLE_ARCH_BACKEND STREQUAL "ucontext")
    target_compile_definitions(tulle_flags INTERFACE TULLE_CONTEXT_BACKEND_UCONTEXT)
elseif(TULLE_ARCH_BACKEND STREQUAL "setjmp")
    target_compile_definitions(tulle_flags INTERFACE TULLE_CONTEXT_BACKEND_SETJMP)
elseif(NOT TULLE_ARCH_BACKEND STREQUAL "asm")
    message(FATAL_ERROR "TULLE_ARCH_BACKEND is '${TULLE_ARCH_BACKEND}'; it must be asm, ucontext or setjmp")
endif()
