# lockstep_add_test(name SOURCES file... [DEPENDS target...] [TIMEOUT seconds])
#   One GoogleTest program, run as one process.
# lockstep_add_mpi_test(name SOURCES file... [RANKS n...] [DEPENDS target...] [TIMEOUT seconds])
#   The same under tests/support/mpi_test_main.cpp, run by mpiexec once for each number of ranks.
#   A failure on any rank fails the test; one that hangs is ended by its time-out.
# lockstep_add_system_test(name COMMAND command... [TIMEOUT seconds] [LABELS label...])
#   Any command. Its exit code is the result.
# Time-outs are for the release build on a busy machine; LOCKSTEP_TEST_PATIENCE multiplies them.

# A sanitizer makes our code several times slower, and ranks that spin for each other more than that.
set(LOCKSTEP_TEST_PATIENCE 1)
set(LOCKSTEP_TEST_ENVIRONMENT OMP_NUM_THREADS=1)
if(LOCKSTEP_SANITIZE)
  set(LOCKSTEP_TEST_PATIENCE 4)
  # An exit code that no test expects of the program, which is told itself where there is no memory.
  list(APPEND LOCKSTEP_TEST_ENVIRONMENT
    LOCKSTEP_TEST_PATIENCE=${LOCKSTEP_TEST_PATIENCE}
    ASAN_OPTIONS=exitcode=86:allocator_may_return_null=1 UBSAN_OPTIONS=exitcode=86:print_stacktrace=1
    # Without its own handler of SIGSEGV, under which no process dies of that signal.
    TSAN_OPTIONS=exitcode=86:handle_segv=0:suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp
    # MPICH's UCX hooks madvise and crashes ThreadSanitizer at a thread's end; its own handlers of deadly
    # signals allocate, which is reported.
    UCX_MEM_EVENTS=n UCX_HANDLE_ERRORS=none)
endif()

function(lockstep_test_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE lockstep_options ${ARG_DEPENDS} GTest::gtest GTest::gmock)
  lockstep_compile_as_test(${name})
endfunction()

# May take the tests' precompiled headers.
function(lockstep_compile_as_test name)
  set_target_properties(${name} PROPERTIES LOCKSTEP_TEST_PROGRAM ON)
  if(LOCKSTEP_PRECOMPILE)
    add_dependencies(${name} lockstep_precompiled_tests)
  endif()
endfunction()

function(lockstep_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  lockstep_test_program(${name} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  lockstep_test_properties(${name} "${ARG_TIMEOUT}" "${ARG_LABELS}" 1)
endfunction()

function(lockstep_add_mpi_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;RANKS;LABELS" ${ARGN})
  if(NOT ARG_RANKS)
    set(ARG_RANKS 1 2 3)
  endif()
  lockstep_test_program(${name} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS} lockstep_mpi_test_main)
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}.ranks_${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:${name}>)
    lockstep_test_properties(${name}.ranks_${ranks} "${ARG_TIMEOUT}" "${ARG_LABELS}" ${ranks})
  endforeach()
endfunction()

function(lockstep_add_system_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;PROCESSORS" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 2)
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  lockstep_test_properties(${name} "${ARG_TIMEOUT}" "${ARG_LABELS}" ${ARG_PROCESSORS})
endfunction()

function(lockstep_test_properties name timeout labels processors)
  if(NOT timeout)
    set(timeout 60)
  endif()
  math(EXPR timeout "${timeout} * ${LOCKSTEP_TEST_PATIENCE}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} PROCESSORS ${processors}
                       ENVIRONMENT "${LOCKSTEP_TEST_ENVIRONMENT}")
  if(labels)
    set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  endif()
endfunction()
