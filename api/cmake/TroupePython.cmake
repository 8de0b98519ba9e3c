# Finds Python and pybind11 for the directory that includes this.

# The interpreter that the distribution's pybind11, numpy and pytest are for, and not whatever else
# comes first in the search path.
find_program(TROUPE_PYTHON_PROGRAM python3 PATHS /usr/bin NO_DEFAULT_PATH)
mark_as_advanced(TROUPE_PYTHON_PROGRAM)
if(TROUPE_PYTHON_PROGRAM AND NOT DEFINED Python_EXECUTABLE)
  set(Python_EXECUTABLE "${TROUPE_PYTHON_PROGRAM}")
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module QUIET)
if(Python_FOUND)
  find_package(pybind11 2.10 CONFIG QUIET)
endif()
