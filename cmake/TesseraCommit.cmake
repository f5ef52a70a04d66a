# The commit that a build is made from, as a source file that changes only when the commit does. Two uses:
#   include(TesseraCommit)  tessera_commit_source(FILE) makes a target that keeps FILE up to date at every build;
#   cmake -DSOURCE=... -DOUTPUT=... -P TesseraCommit.cmake  is what that target runs.
if(CMAKE_SCRIPT_MODE_FILE)
  find_program(git git)
  set(commit unknown)   # a source archive, or no git
  if(git)
    execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty=-modified --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(commit ${described})
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "extern const char* const tessera_commit;\nconst char* const tessera_commit = \"${commit}\";\n")
  return()
endif()

set(TESSERA_COMMIT_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(tessera_commit_source file)
  set(command ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${file} -P ${TESSERA_COMMIT_SCRIPT})
  execute_process(COMMAND ${command})   # so that it exists when the build is made
  add_custom_target(tessera_commit COMMAND ${command} BYPRODUCTS ${file} COMMENT "" VERBATIM)
endfunction()
