# Headers that take most of a file's compile time, precompiled once: LibTorch's for whatever uses it,
# GoogleTest's for the other tests. (Custom commands, since target_precompile_headers cannot be passed
# on by an interface library.)

# -fPIC for programs, too: the compiler takes no header that was precompiled otherwise. GCC 12 takes the
# standard library in a precompiled header for code of ours, with its false alarms (bug 105329).
set(LOCKSTEP_PRECOMPILED_OPTIONS -fPIC -Winvalid-pch -Wno-stringop-overflow -Wno-array-bounds)

# lockstep_precompile(name WHERE condition HEADERS header... DEPENDS target... [OPTIONS option...])
# For every target of the project for which the generator expression `condition` is 1.
function(lockstep_precompile name)
  cmake_parse_arguments(ARG "" "WHERE" "HEADERS;DEPENDS;OPTIONS" ${ARGN})
  set(header ${PROJECT_BINARY_DIR}/precompiled/${name}.hpp)
  list(TRANSFORM ARG_HEADERS REPLACE "(.+)" "#include <\\1>\n")
  list(JOIN ARG_HEADERS "" text)
  file(CONFIGURE OUTPUT ${header} CONTENT "${text}")
  string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" build_type_flags)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${${build_type_flags}}")
  set(includes)
  set(options ${LOCKSTEP_PRECOMPILED_OPTIONS} ${ARG_OPTIONS})
  set(inherited_options)
  foreach(target IN LISTS ARG_DEPENDS)
    list(APPEND includes $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
    list(APPEND inherited_options $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_OPTIONS>)
  endforeach()
  # As for any target: the compiler's own directories must keep their place.
  set(includes "$<FILTER:${includes},EXCLUDE,^/usr/include$>")
  set(definitions $<TARGET_PROPERTY:lockstep_options,INTERFACE_COMPILE_DEFINITIONS>)
  add_custom_command(OUTPUT ${header}.gch
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -std=c++${CMAKE_CXX_STANDARD}
            ${LOCKSTEP_COMPILE_OPTIONS} ${options} "${inherited_options}"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            "$<$<BOOL:${includes}>:-isystem;$<JOIN:${includes},;-isystem;>>"
            -x c++-header ${header} -o ${header}.gch
    DEPENDS ${header} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Precompiling headers: ${name}")
  add_custom_target(lockstep_precompiled_${name} DEPENDS ${header}.gch)
  target_compile_options(lockstep_options INTERFACE "$<${ARG_WHERE}:${options};-include;${header}>")
endfunction()

set(is_test $<BOOL:$<TARGET_PROPERTY:LOCKSTEP_TEST_PROGRAM>>)
set(uses_torch $<BOOL:$<TARGET_PROPERTY:LOCKSTEP_USES_TORCH>>)
if(LOCKSTEP_TORCH)
  # What links lockstep_torch, however indirectly, has the property as well.
  set_target_properties(lockstep_torch PROPERTIES
    INTERFACE_LOCKSTEP_USES_TORCH ON COMPATIBLE_INTERFACE_BOOL LOCKSTEP_USES_TORCH)
  lockstep_precompile(torch WHERE ${uses_torch} DEPENDS lockstep_torch
    HEADERS filesystem functional ATen/core/Tensor.h ATen/ops/zeros.h ATen/record_function.h)
  add_dependencies(lockstep_torch lockstep_precompiled_torch)
endif()
if(LOCKSTEP_TESTS)
  # Nobody waits for what tests compute themselves, but everybody for the compiler.
  set(optimization)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    set(optimization -O0)
  endif()
  lockstep_precompile(tests WHERE $<AND:${is_test},$<NOT:${uses_torch}>> DEPENDS GTest::gtest GTest::gmock
    OPTIONS ${optimization}
    HEADERS filesystem fstream functional memory optional span string string_view thread vector
            gtest/gtest.h gmock/gmock.h)
endif()
