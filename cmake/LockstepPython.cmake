# LOCKSTEP_PYTHON: the interpreter that the tests run, one that reads HDF5 files and draws curves. A
# python3 that comes first on PATH (a virtual environment, pyenv) often has no h5py while the system's
# has, so each is tried before it is taken.
set(modules h5py numpy matplotlib)
list(JOIN modules ", " modules)

function(lockstep_python_can_import result interpreter)
  execute_process(COMMAND ${interpreter} -c "import ${modules}" RESULT_VARIABLE status
                  OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

find_program(LOCKSTEP_PYTHON NAMES python3 HINTS ENV PATH PATHS /usr/bin
             VALIDATOR lockstep_python_can_import DOC "The Python that the tests run")
if(NOT LOCKSTEP_PYTHON)
  message(FATAL_ERROR
    "No python3, on PATH or in /usr/bin, can import ${modules}, which the tests need.\n"
    "Install them (Debian: python3-h5py python3-matplotlib; elsewhere: python3 -m pip install h5py "
    "matplotlib), name an interpreter by -DLOCKSTEP_PYTHON=, or build without tests by "
    "-DLOCKSTEP_TESTS=OFF.")
endif()
message(STATUS "Python of the tests: ${LOCKSTEP_PYTHON}")
