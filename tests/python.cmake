# The Python module's tests, one of ctest for each file. Not under sanitizers: the interpreter is not
# built with them, so their library would have to be loaded before it, and what they then say is mostly
# about the interpreter; the C++ that the module calls is tested under them by the other suites.

include(TroupePython)
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import pytest, numpy"
                RESULT_VARIABLE no_pytest OUTPUT_QUIET ERROR_QUIET)
if(no_pytest)
  message(STATUS "The Python tests are left out: python3-pytest or python3-numpy is missing")
  return()
endif()

get_target_property(python_package troupe_python LIBRARY_OUTPUT_DIRECTORY)
get_filename_component(python_path "${python_package}" DIRECTORY)
file(GLOB python_tests CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/python"
     python/test_*.py)
foreach(file ${python_tests})
  string(REGEX REPLACE "^test_|\\.py$" "" stem "${file}")
  add_test(NAME python.${stem}
           COMMAND "${Python_EXECUTABLE}" -m pytest -q -p no:cacheprovider "${file}"
           WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/python")
  set_tests_properties(python.${stem} PROPERTIES LABELS python TIMEOUT 300 ENVIRONMENT
                       "PYTHONPATH=${python_path};PYTHONDONTWRITEBYTECODE=1")
endforeach()
