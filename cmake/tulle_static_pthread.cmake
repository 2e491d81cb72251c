# SPDX-License-Identifier: Apache-2.0
#
# Makes libtulle-pthread.a of compiled files of the run time and of src/compat/pthread; a script, with -DOBJECTS=FILE -DTABLE=symbols.def
# -DARCHIVE=FILE -DFOLDER=FOLDER -DNM= -DOBJCOPY= -DAR=. A program is linked with --wrap for the names of the table: it then calls __wrap_NAME, which
# is ours here, and what the run time calls itself is __real_NAME, the C library's. Second names, which the C library itself calls, stay its own.
cmake_policy(SET CMP0057 NEW)
file(STRINGS ${OBJECTS} objects)
file(STRINGS ${TABLE} names REGEX "^TULLE_(INTERPOSED|EXPORTED|SECOND)\\(")
list(TRANSFORM names REPLACE "^.*\\((.*)\\).*$" "\\1")
file(STRINGS ${TABLE} second REGEX "^TULLE_SECOND\\(")
list(TRANSFORM second REPLACE "^.*\\((.*)\\).*$" "\\1")

# One nm for all files: where it loads plug-ins of compilers, each start of it takes longer than all else here.
set(kept ${objects})
list(FILTER objects EXCLUDE REGEX "/tulle_static_places[.]dir/")
list(FILTER kept INCLUDE REGEX "/tulle_static_places[.]dir/") # which know of __real_NAME
execute_process(COMMAND ${NM} -A ${objects} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+ [A-Za-z] [A-Za-z0-9_]+\n" symbols "${text}")
foreach(symbol IN LISTS symbols)
    string(REGEX MATCH "^(.*):[0-9a-f ]* (.) (.*)\n$" symbol "${symbol}")
    set(object ${CMAKE_MATCH_1})
    set(kind ${CMAKE_MATCH_2})
    set(name ${CMAKE_MATCH_3})
    string(REGEX REPLACE "^__real_" "" own ${name})
    if(NOT own STREQUAL name AND own IN_LIST names)
        string(APPEND "renames_of_${object}" "${name} __wrap_${own}\n") # own.hpp
    elseif(name IN_LIST names AND NOT kind MATCHES "[Uw]")
        string(APPEND "renames_of_${object}" "${name} __wrap_${name}\n")
    elseif(name IN_LIST names AND NOT name IN_LIST second)
        string(APPEND "renames_of_${object}" "${name} __real_${name}\n")
    endif()
endforeach()

file(REMOVE_RECURSE ${FOLDER} ${ARCHIVE})
file(MAKE_DIRECTORY ${FOLDER})
set(number 0)
foreach(object IN LISTS objects)
    get_filename_component(name ${object} NAME)
    math(EXPR number "${number} + 1")
    file(WRITE ${FOLDER}/renames "${renames_of_${object}}")
    execute_process(COMMAND ${OBJCOPY} --redefine-syms=${FOLDER}/renames ${object} ${FOLDER}/${number}-${name} COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND members ${number}-${name})
endforeach()
execute_process(COMMAND ${AR} qcs ${ARCHIVE} ${members} ${kept} WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${FOLDER})
