# Installs a built tree, and has examples/acl/run build and run its programs against it.

foreach(name BUILD_DIR WORK_DIR EXAMPLES BUILD_TYPE)
  if(NOT DEFINED ${name})
    message(FATAL_ERROR "missing -D${name}=...")
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix --config ${BUILD_TYPE})
run("${EXAMPLES}/run" "${WORK_DIR}/prefix" "${WORK_DIR}/programs")
