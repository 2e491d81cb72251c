# SPDX-License-Identifier: Apache-2.0
#
# tulle::tulle (shared) and tulle::tulle_static, from one set of objects. Inside this tree src/ is an include root of whoever
# links tulle_internal as well.
tulle_glob(library_sources src/*.cpp src/*.S)
list(FILTER library_sources EXCLUDE REGEX "/src/(compat|mpi)/") # libraries of their own
if(NOT TULLE_WHOLE_LIBRARY)
    list(FILTER library_sources INCLUDE REGEX "/src/(base|os|arch|stack)/")
endif()

add_library(tulle_objects OBJECT ${library_sources})
target_include_directories(tulle_objects PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tulle_objects PRIVATE tulle_flags Threads::Threads)
# Where plug-ins lie below the prefix; not below an absolute folder, as an installed tree may be moved.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/net/mpi_plugin.cpp PROPERTIES
    COMPILE_DEFINITIONS TULLE_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}" SKIP_UNITY_BUILD_INCLUSION ON)
set_target_properties(tulle_objects PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
# A thread-local variable is one load even in the shared library; nothing may replace the library's own functions.
target_compile_options(tulle_objects PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-ftls-model=initial-exec>
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-semantic-interposition>)
# Half of the time of compiling is standard headers, which are compiled once here; a source still names what it uses, and
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows whether it does.
set(tulle_common_headers algorithm array atomic cerrno chrono cstddef cstdint cstdio cstring functional memory mutex new optional string
    string_view type_traits utility vector)
list(TRANSFORM tulle_common_headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
target_precompile_headers(tulle_objects PRIVATE ${tulle_common_headers})
# For sanitizers, and with -DCMAKE_UNITY_BUILD=ON, the files of a folder are compiled together, a dozen at a time; these have names of their own in
# common. The preset `release` compiles each file alone, so that it is known to name all that it uses.
set(tulle_unity_build ${CMAKE_UNITY_BUILD})
if(TULLE_BUILD_BY_FOLDER AND NOT TULLE_SANITIZE STREQUAL "none")
    set(tulle_unity_build ON)
endif()
tulle_glob(sources_compiled_alone src/diag/fault_handler.cpp
    # Programs of tests/arch, tests/reports and tests/unit bring some of these themselves.
    src/arch/*.cpp src/sync/address_lock.cpp src/sync/inspect.cpp src/sync/locked_addresses.cpp src/sync/process_words.cpp)
set_source_files_properties(${sources_compiled_alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
foreach(source IN LISTS library_sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    list(APPEND sources_of_${folder} ${source})
    list(LENGTH sources_of_${folder} count)
    math(EXPR part "${count} / 16")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}.${part})
endforeach()
# What checks of programs call finds values in vector registers, which its entries do not save (src/dsm/coherent_host.hpp). Nor does it call memset,
# which uses them.
if(TULLE_ARCH STREQUAL "x86_64" AND TULLE_SANITIZE STREQUAL "none")
    set(tulle_without_vectors access_checks coherent_host state_table words)
    list(TRANSFORM tulle_without_vectors REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/dsm/\\1.cpp" OUTPUT_VARIABLE sources_without_vectors)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(options_without_vectors -mgeneral-regs-only -mprfchw -fno-tree-loop-distribute-patterns)
    else() # clang with the first of these refuses headers that name long double
        set(options_without_vectors -mno-sse -mno-mmx -mprfchw -fno-builtin-memset)
    endif()
    set_source_files_properties(${sources_without_vectors} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
        COMPILE_OPTIONS "${options_without_vectors}")
endif()
set_target_properties(tulle_objects PROPERTIES UNITY_BUILD "${tulle_unity_build}" UNITY_BUILD_MODE GROUP)
# Debuggers and reports name the function that a thread waits in: it stays on the stack. Files with options of their own are compiled alone.
if(tulle_unity_build)
    target_compile_options(tulle_objects PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-optimize-sibling-calls>)
else()
    tulle_glob(waiting_sources src/sync/*.cpp src/capi/*.cpp)
    set_source_files_properties(${waiting_sources} PROPERTIES COMPILE_OPTIONS -fno-optimize-sibling-calls)
endif()

# The same over each other switch, for benchmarks that compare them (bench/paper-fib). What lies below the scheduler knows no switch, and is shared.
if(TULLE_BUILD_BENCH AND TULLE_WHOLE_LIBRARY AND TULLE_ARCH_BACKEND STREQUAL "asm" AND NOT tulle_unity_build)
    set(below_the_scheduler "/src/(base|os|stack|deque|park|wait|net|cpus)/")
    set(sources_over_the_switch ${library_sources})
    list(FILTER sources_over_the_switch EXCLUDE REGEX ${below_the_scheduler})
    foreach(backend ucontext setjmp)
        set(over tulle_over_${backend})
        string(TOUPPER ${backend} name)
        add_library(${over} STATIC EXCLUDE_FROM_ALL ${sources_over_the_switch}
            $<FILTER:$<TARGET_OBJECTS:tulle_objects>,INCLUDE,${below_the_scheduler}>)
        target_include_directories(${over} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
        target_compile_definitions(${over} PRIVATE TULLE_CONTEXT_BACKEND_${name})
        target_compile_options(${over} PRIVATE -fno-optimize-sibling-calls)
        target_link_libraries(${over} PUBLIC Threads::Threads ${tulle_atomic} PRIVATE tulle_flags)
        set_target_properties(${over} PROPERTIES CXX_VISIBILITY_PRESET hidden UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
        target_precompile_headers(${over} PRIVATE ${tulle_common_headers})
    endforeach()
endif()

function(tulle_add_library target kind)
    add_library(${target} ${kind} $<TARGET_OBJECTS:tulle_objects>)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME tulle LINKER_LANGUAGE CXX)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    # A project whose languages do not include C++ cannot say what features that has; a part of it may have more languages.
    if(PROJECT_IS_TOP_LEVEL OR "CXX" IN_LIST tulle_languages_before)
        target_compile_features(${target} INTERFACE cxx_std_20)
    else()
        target_compile_options(${target} INTERFACE
            $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<STREQUAL:$<TARGET_PROPERTY:CXX_STANDARD>,>>:-std=gnu++20>)
    endif()
    # Binding a call lazily takes more than a compact stack.
    target_link_options(${target} INTERFACE LINKER:-z,now)
    target_link_libraries(${target} PUBLIC Threads::Threads ${tulle_atomic} PRIVATE $<BUILD_INTERFACE:tulle_flags>)
endfunction()

tulle_add_library(tulle_shared SHARED)
if(TULLE_ARCH STREQUAL "x86_64" AND TULLE_WHOLE_LIBRARY)
    add_library(tulle_start_of_shared OBJECT ${PROJECT_SOURCE_DIR}/src/arch/x86_64/coherent_start.S)
    target_compile_definitions(tulle_start_of_shared PRIVATE TULLE_IS_RELOCATED_BEFORE)
    target_sources(tulle_shared PRIVATE $<TARGET_OBJECTS:tulle_start_of_shared>)
endif()
tulle_add_library(tulle_static STATIC)
add_library(tulle::tulle ALIAS tulle_shared)
add_library(tulle::tulle_static ALIAS tulle_static)

set_target_properties(tulle_shared PROPERTIES EXPORT_NAME tulle VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/tulle.map)
target_link_options(tulle_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/tulle.map LINKER:-z,now)
# Its workers run its code until the process ends: what dlclose would unmap.
target_link_options(tulle_shared PRIVATE LINKER:-z,nodelete)
target_link_options(tulle_static INTERFACE LINKER:-z,nodelete)
# Where C++ is not among the languages of a project, CMake links for C, or for Fortran, and does not add what the library is written in.
target_link_libraries(tulle_static INTERFACE $<$<NOT:$<LINK_LANGUAGE:CXX>>:stdc++> $<$<NOT:$<LINK_LANGUAGE:CXX>>:m>)
# Along this the dynamic linker finds the plug-ins of MPIs for a program that has the library in itself.
target_link_options(tulle_static INTERFACE $<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>)
if(TULLE_SANITIZE STREQUAL "none")
    target_link_options(tulle_shared PRIVATE LINKER:--no-undefined)
endif()

add_library(tulle_internal INTERFACE)
target_include_directories(tulle_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tulle_internal INTERFACE tulle_static tulle_flags)
