# ATen's headers, which take most of a file's compile time, precompiled once for everything that links
# lockstep_torch, but for targets with the property LOCKSTEP_HEADERS_ALONE.
# (A custom command, since target_precompile_headers cannot be passed on by an interface library.)
set(header ${PROJECT_BINARY_DIR}/torch_precompiled.hpp)
file(CONFIGURE OUTPUT ${header} CONTENT "
#include <filesystem>
#include <functional>
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
")
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" build_type_flags)
separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${${build_type_flags}}")
set(includes $<TARGET_PROPERTY:lockstep_torch,INTERFACE_INCLUDE_DIRECTORIES>)
set(definitions $<TARGET_PROPERTY:lockstep_options,INTERFACE_COMPILE_DEFINITIONS>)
add_custom_command(OUTPUT ${header}.gch
  COMMAND ${CMAKE_CXX_COMPILER} ${flags} -std=c++${CMAKE_CXX_STANDARD} -fPIC
          $<TARGET_PROPERTY:lockstep_options,INTERFACE_COMPILE_OPTIONS>
          "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" -isystem "$<JOIN:${includes},;-isystem;>"
          -x c++-header ${header} -o ${header}.gch
  DEPENDS ${header} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Precompiling LibTorch's headers")
add_custom_target(lockstep_torch_precompiled DEPENDS ${header}.gch)
add_dependencies(lockstep_torch lockstep_torch_precompiled)

# -fPIC for programs, too: the compiler takes no header that was precompiled otherwise. GCC 12 takes the
# standard library in a precompiled header for code of ours, with its false alarms (bug 105329).
target_compile_options(lockstep_torch INTERFACE
  "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:LOCKSTEP_HEADERS_ALONE>>>:-fPIC;-Winvalid-pch;-Wno-stringop-overflow;-Wno-array-bounds;-include;${header}>")
