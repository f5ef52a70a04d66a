# MPFR, floating-point numbers of any precision, imported target MPFR::mpfr. (Its package has no CMake files.)
find_path(MPFR_INCLUDE_DIR mpfr.h)
find_library(MPFR_LIBRARY mpfr)
mark_as_advanced(MPFR_INCLUDE_DIR MPFR_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPFR REQUIRED_VARS MPFR_LIBRARY MPFR_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "Install libmpfr-dev.")
if(MPFR_FOUND AND NOT TARGET MPFR::mpfr)
  add_library(MPFR::mpfr UNKNOWN IMPORTED)
  set_target_properties(MPFR::mpfr PROPERTIES IMPORTED_LOCATION ${MPFR_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${MPFR_INCLUDE_DIR})
endif()
