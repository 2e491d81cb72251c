# SPDX-License-Identifier: Apache-2.0
#
# Faces that look into the variables of the program; each has that code to itself.
set(faces_with_program parmacs tnt)

# These libraries have the same options: what nearly all their files include is compiled once, for the first of them.
function(tulle_share_common_headers target)
    get_property(first GLOBAL PROPERTY tulle_first_compat_library)
    if(first)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        set_property(GLOBAL PROPERTY tulle_first_compat_library ${target})
        target_precompile_headers(${target} PRIVATE ${tulle_common_headers})
    endif()
endfunction()

# tulle::NAME (shared) and tulle::NAME_static, if it is one of the kinds: what programs for another library link, upon tulle::tulle. Their
# include path is include/compat/NAME. Inside this tree src/ is an include root of the sources.
function(tulle_add_compat_library name)
    set(kinds ${ARGN})
    tulle_glob(sources src/compat/${name}/*.cpp)
    if(name IN_LIST faces_with_program)
        tulle_glob(program_sources src/compat/program/*.cpp)
        list(APPEND sources ${program_sources})
    endif()
    set(map ${PROJECT_SOURCE_DIR}/src/compat/${name}/${name}.map)
    add_library(tulle_${name}_objects OBJECT ${sources})
    set_target_properties(tulle_${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON VISIBILITY_INLINES_HIDDEN ON
        UNITY_BUILD "${tulle_unity_build}" UNITY_BUILD_BATCH_SIZE 16)
    target_include_directories(tulle_${name}_objects PRIVATE ${PROJECT_SOURCE_DIR}/include/compat/${name} ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tulle_${name}_objects PRIVATE tulle_flags Threads::Threads)
    tulle_share_common_headers(tulle_${name}_objects)
    if(tulle_unity_build) # gcc takes each file for one that others include, whose objects must not have members of local types
        target_compile_options(tulle_${name}_objects PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    endif()
    foreach(kind IN LISTS kinds)
        string(TOUPPER ${kind} cmake_kind)
        set(target tulle_${name}_${kind})
        add_library(${target} ${cmake_kind} $<TARGET_OBJECTS:tulle_${name}_objects>)
        set_target_properties(${target} PROPERTIES OUTPUT_NAME tulle-${name} LINKER_LANGUAGE CXX)
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat/${name}>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/compat/${name}>)
        target_link_libraries(${target} PUBLIC tulle_${kind} PRIVATE $<BUILD_INTERFACE:tulle_flags>)
    endforeach()
    add_library(tulle::${name} ALIAS tulle_${name}_shared)
    if(TARGET tulle_${name}_static)
        add_library(tulle::${name}_static ALIAS tulle_${name}_static)
        set_target_properties(tulle_${name}_static PROPERTIES EXPORT_NAME ${name}_static)
    endif()

    set_target_properties(tulle_${name}_shared PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN" LINK_DEPENDS ${map})
    # Threads that are alive at dlclose run its code.
    target_link_options(tulle_${name}_shared PRIVATE LINKER:--version-script=${map} LINKER:-z,now LINKER:-z,nodelete)
    if(TULLE_SANITIZE STREQUAL "none")
        target_link_options(tulle_${name}_shared PRIVATE LINKER:--no-undefined)
    endif()
endfunction()

tulle_add_compat_library(qthread shared static)
tulle_add_compat_library(tnt shared static)
tulle_add_compat_library(myth shared static)

# Not static: a created process gets the variables of the program, which must not be those of Tulle.
tulle_add_compat_library(parmacs shared)
file(RELATIVE_PATH program_from_library /${CMAKE_INSTALL_LIBDIR} /${CMAKE_INSTALL_BINDIR}/tulle)
target_compile_definitions(tulle_parmacs_objects PRIVATE TULLE_PROGRAM_FROM_LIBRARY="${program_from_library}")
target_link_libraries(tulle_parmacs_shared PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(tulle_tnt_shared PRIVATE ${CMAKE_DL_LIBS})

# A program with the macros: TARGET of sources that m4 expands. Does nothing where there is no m4.
find_program(m4_program m4 NO_CACHE)
function(tulle_add_parmacs_program target)
    if(NOT m4_program)
        return()
    endif()
    set(macros ${PROJECT_SOURCE_DIR}/include/compat/parmacs/parmacs.m4)
    add_executable(${target})
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source)
        cmake_path(GET source STEM name)
        set(expanded ${CMAKE_CURRENT_BINARY_DIR}/${target}/${name}.c)
        add_custom_command(OUTPUT ${expanded} COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${target}
            COMMAND ${m4_program} ${macros} ${source} > ${expanded} DEPENDS ${macros} ${source} VERBATIM)
        target_sources(${target} PRIVATE ${expanded})
    endforeach()
    target_link_libraries(${target} PRIVATE tulle_parmacs_shared tulle_flags)
endfunction()
