# SPDX-License-Identifier: Apache-2.0
#
# tulle_preload: the functions of <pthread.h>, <semaphore.h> and of input and output, to be loaded before the C library (`tulle run --pthreads`).
# It has the run time in itself. One table, symbols.def, says which functions it has: the linker sends what the run time itself calls of these
# past them (--wrap), and exports nothing else; a program that has functions of the same names, which call these, is passed by, too
# (-Bsymbolic-functions). Where the thread pointer cannot be set, or there is no GNU C library, there is none, nor in builds
# with a sanitizer, whose run time would have to come first, nor for big-endian Power, whose functions have descriptors (ELFv1).
set(preload_folder ${PROJECT_SOURCE_DIR}/src/compat/pthread)
if(NOT tulle_has_glibc OR NOT TULLE_SANITIZE STREQUAL "none" OR NOT EXISTS ${preload_folder}/arch/${TULLE_ARCH_FOLDER} OR TULLE_ARCH STREQUAL "ppc64")
    return()
endif()

set(table ${preload_folder}/symbols.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} interposed REGEX "^TULLE_INTERPOSED\\(")
file(STRINGS ${table} exported REGEX "^TULLE_(INTERPOSED|EXPORTED|SECOND)\\(")
list(TRANSFORM interposed REPLACE "^.*\\((.*)\\)$" "\\1")
list(TRANSFORM interposed PREPEND "LINKER:--wrap=" OUTPUT_VARIABLE wrapped)
list(TRANSFORM exported REPLACE "^.*\\((.*)\\)$" "\\1")
string(JOIN "; " exported ${exported})
set(map ${PROJECT_BINARY_DIR}/tulle-preload.map)
file(CONFIGURE OUTPUT ${map} CONTENT [[{ global: @exported@; local: *; };]] @ONLY)

tulle_glob(preload_sources src/compat/pthread/*.cpp src/compat/pthread/*.S)
list(FILTER preload_sources EXCLUDE REGEX "/static/")
add_library(tulle_preload SHARED ${preload_sources} "$<FILTER:$<TARGET_OBJECTS:tulle_objects>,EXCLUDE,[.](gch|pch)$>")
set_target_properties(tulle_preload PROPERTIES OUTPUT_NAME tulle-preload VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE CXX UNITY_BUILD OFF LINK_DEPENDS ${map} CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS ON)
target_include_directories(tulle_preload PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tulle_preload PRIVATE tulle_flags Threads::Threads ${tulle_atomic} ${CMAKE_DL_LIBS})
target_compile_options(tulle_preload PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec>)
target_precompile_headers(tulle_preload PRIVATE ${tulle_common_headers})
# These files cannot be compiled together: what one of them calls of another one goes past it (--wrap). Where others are, the headers of most of them
# are compiled ahead instead.
if(tulle_unity_build)
    set(most_of_them files/descriptors signals/signals locks/futex_table)
    list(TRANSFORM most_of_them REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:${preload_folder}/\\1.hpp>")
    target_precompile_headers(tulle_preload PRIVATE ${most_of_them})
endif()
target_link_options(tulle_preload PRIVATE LINKER:--version-script=${map} LINKER:-Bsymbolic-functions LINKER:-z,now LINKER:-z,nodelete
    LINKER:--no-undefined ${wrapped})

# libtulle-pthread.a, for programs that are linked statically, and tulle-pthread.options, the arguments for the linker: the same files with other
# names for these functions (tulle_static_pthread.cmake). Each place for one of the C library's functions is a file, so that a program is linked with
# no more of these than it needs.
set(place [[    .data; .globl tulle_libc_@name@; .p2align 3; tulle_libc_@name@: .quad __real_@name@; .section .note.GNU-stack, "", %progbits
]])
set(places "")
foreach(name IN LISTS interposed)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/places/${name}.S CONTENT "${place}" @ONLY)
    list(APPEND places ${PROJECT_BINARY_DIR}/places/${name}.S)
endforeach()
add_library(tulle_static_places OBJECT ${places} ${preload_folder}/static/libc.cpp)
set_target_properties(tulle_static_places PROPERTIES UNITY_BUILD OFF CXX_EXTENSIONS ON)
target_include_directories(tulle_static_places PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tulle_static_places PRIVATE tulle_flags)

set(of_static "$<TARGET_OBJECTS:tulle_objects>;$<TARGET_OBJECTS:tulle_preload>;$<TARGET_OBJECTS:tulle_static_places>")
set(of_static "$<FILTER:$<FILTER:${of_static},EXCLUDE,[.](gch|pch)$>,EXCLUDE,(own_calls[.]S|tulle_preload[.]dir.*/libc[.]cpp)[.]o$>")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/static-pthread.objects CONTENT "$<JOIN:${of_static},\n>\n")
set(archive ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libtulle-pthread.a)
set(script ${PROJECT_SOURCE_DIR}/cmake/tulle_static_pthread.cmake)
add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -DOBJECTS=${PROJECT_BINARY_DIR}/static-pthread.objects -DTABLE=${table} -DARCHIVE=${archive}
        -DFOLDER=${PROJECT_BINARY_DIR}/static-pthread -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DAR=${CMAKE_AR} -P ${script}
    DEPENDS "${of_static}" ${table} ${script} COMMENT "Making libtulle-pthread.a" VERBATIM)
add_custom_target(tulle_pthread ALL DEPENDS ${archive})
# Of files that another target makes, a generator of Makefiles knows no more than that they have to be there.
add_dependencies(tulle_pthread tulle_objects tulle_preload tulle_static_places)
file(STRINGS ${table} static_wrapped REGEX "^TULLE_(INTERPOSED|EXPORTED)\\(")
list(TRANSFORM static_wrapped REPLACE "^.*\\((.*)\\)$" "-Wl,--wrap=\\1")
string(JOIN "\n" static_wrapped ${static_wrapped})
set(static_options ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/tulle-pthread.options)
list(TRANSFORM tulle_atomic PREPEND " -l" OUTPUT_VARIABLE also)
file(CONFIGURE OUTPUT ${static_options} CONTENT
    "-static\n${static_wrapped}\n-Wl,--start-group -ltulle-pthread -lstdc++${also} -lm -lgcc_eh -lc -Wl,--end-group\n" @ONLY)
