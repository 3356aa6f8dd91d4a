# What every target of the project is compiled with.
add_library(lockstep_options INTERFACE)
target_include_directories(lockstep_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
set(LOCKSTEP_COMPILE_OPTIONS -Wall -Wextra -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlap in any `"text" + std::string` (its bug 105651).
  list(APPEND LOCKSTEP_COMPILE_OPTIONS -Wno-restrict)
endif()
if(LOCKSTEP_SANITIZE)
  # -g1 is enough for reports to name lines, and halves the size of every program.
  list(APPEND LOCKSTEP_COMPILE_OPTIONS -g1
    -fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_definitions(lockstep_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()
target_compile_options(lockstep_options INTERFACE ${LOCKSTEP_COMPILE_OPTIONS})

# lockstep_add_module(name SOURCES file... [DEPENDS target...] [PRIVATE_DEPENDS target...])
# A module is one static library, lockstep::<name>: its sources are in src/<name>, its public headers
# in include/lockstep/<name>. No public header may lean on what its includer happened to include before
# it: its own source includes it first (check_includes.py sees to that), and headers without a source are
# compiled alone; not in a sanitizer's build, which adds nothing to that. Where LibTorch's headers are
# precompiled they are there anyway; check_includes.py knows who needs them.
function(lockstep_add_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(lockstep_${name} STATIC ${ARG_SOURCES})
  add_library(lockstep::${name} ALIAS lockstep_${name})
  target_include_directories(lockstep_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(lockstep_${name} PUBLIC lockstep_options ${ARG_DEPENDS}
                                         PRIVATE ${ARG_PRIVATE_DEPENDS})
  if(LOCKSTEP_TESTS AND NOT LOCKSTEP_SANITIZE)
    lockstep_check_headers_alone(${name} lockstep_options ${ARG_DEPENDS})
  endif()
endfunction()

function(lockstep_check_headers_alone module)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
       ${PROJECT_SOURCE_DIR}/include/lockstep/${module}/*.hpp)
  set(sources)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "^lockstep/(.+)\\.hpp$" "${PROJECT_SOURCE_DIR}/src/\\1.cpp" own_source ${header})
    if(EXISTS ${own_source})
      continue()
    endif()
    string(REGEX REPLACE "[/.]" "_" stem ${header})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/header_alone/${stem}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(lockstep_${module}_headers OBJECT ${sources})
    target_link_libraries(lockstep_${module}_headers PRIVATE ${ARGN})
  endif()
endfunction()
