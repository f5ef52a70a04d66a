#include "qdp/init/init.hpp"

#include <sched.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string_view>
#include <vector>

#include <omp.h>

#include "jit/comm/collectives.hpp"
#include "jit/comm/job.hpp"
#include "jit/runtime.hpp"
#include "jit/support/build_id.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/init/about.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp_config.h"

extern const char* const tessera_commit;  // generated, cmake/TesseraCommit.cmake

namespace QDP {

namespace {

bool initialized = false;

int integer(std::string_view flag, const char* text) {
  char* end = nullptr;
  const long v = text ? std::strtol(text, &end, 10) : 0;
  if (!text || end == text || *end)
    throw jit::UserError({.what = "command line: " + std::string(flag),
                          .expected = "an integer",
                          .got = text ? "\"" + std::string(text) + "\"" : "the end of the command line"});
  return static_cast<int>(v);
}

/// Flags that take a fixed number of values which one rank has no use for.
struct Ignored {
  const char* flag;
  int values;
};
constexpr Ignored kIgnored[] = {{"-poolsize", 1}, {"-p", 1}, {"-bind", 1}, {"-rti", 1}, {"-rtinode", 1}};

/// What all ranks must have alike, or they wait for each other in different places.
void require_one_program() {
  const std::string mine = "Tessera " TESSERA_VERSION " (" + std::string(tessera_commit) + "), " +
                           std::to_string(BASE_PRECISION) + " bits, Nd " + std::to_string(QDP_ND) + ", Nc " +
                           std::to_string(QDP_NC) + ", Ns " + std::to_string(QDP_NS) + ", " + jit::builds_in_process() +
                           (jit::env().check ? ", TESSERA_CHECK=1" : "");
  jit::require_same_on_all_ranks(jit::process_communicator(), "programs of a job", mine,
                                 "start all ranks from one build, with the same environment");
}

}  // namespace

std::string QDP_help() {
  return "Flags of the language (others are the program's own):\n"
         "  -h                   this text\n"
         "  -V                   version and configuration\n"
         "  -geom P1 .. PNd      grid of ranks (-qmp-geom is the same); chosen if it is not given\n"
         "  -cd DIR              change to this folder first\n"
         "  -iogeom B1 .. BNd    blocks of ranks, each with a file of its own in PARTFILE's format\n"
         "  -p N, -poolsize GB, -bind C:T, -rti N, -rtinode NAME   accepted, without effect\n\n"
         "Environment variables:\n" +
         jit::env_help();
}

void QDP_initialize(int* argc, char*** argv) {
  if (initialized) throw jit::UserError("QDP_initialize: called twice; call it once, first thing in main");
  jit::start_ranks(argc, argv);
  require_one_program();
  for (int i = 1; i < *argc; ++i) {
    const std::string_view flag = (*argv)[i];
    auto value = [&](int k) { return i + k < *argc ? (*argv)[i + k] : nullptr; };
    if (flag == "-h") {
      QDPIO::cout << QDP_help();
      std::exit(0);
    } else if (flag == "-V") {
      QDPIO::cout << describe(about_program()) << "\n";
      std::exit(0);
    } else if (flag == "-geom" || flag == "-qmp-geom" || flag == "-iogeom") {
      multi1d<int> ranks(QDP_ND);
      for (int mu = 0; mu < QDP_ND; ++mu) ranks[mu] = integer(flag, value(mu + 1));
      flag == "-iogeom" ? Layout::setIONodeGrid(ranks) : Layout::setLogicalSize(ranks);
      i += QDP_ND;
    } else if (flag == "-cd") {
      if (!value(1) || chdir(value(1)) != 0)
        throw jit::UserError({.what = "command line: -cd",
                              .expected = "a folder",
                              .got = value(1) ? value(1) : "the end of the command line"});
      ++i;
    } else {
      for (const Ignored& known : kIgnored)
        if (flag == known.flag) {
          if (!value(known.values))
            throw jit::UserError({.what = "command line: " + std::string(flag),
                                  .expected = std::to_string(known.values) + " values",
                                  .got = "fewer"});
          i += known.values;
        }
    }
  }
  for (const std::string& name : jit::unknown_env_names())
    QDPIO::cerr << "warning: the environment variable " << name << " is not one of Tessera's; -h lists them\n";
  (void)jit::Runtime::instance();  // reads the environment: bad values are reported here
  initialized = true;
}

bool QDP_isInitialized() { return initialized; }

void QDP_finalize() {
  if (!initialized) return;
  initialized = false;
  detail::log_exchange_times();
  jit::Runtime::instance().finalize();
  jit::finish_ranks();
}

void QDP_resume() {}
void QDP_suspend() {}

int qdpNumThreads() { return jit::Runtime::instance().threads(); }
int qdpThreadNum() { return omp_get_thread_num(); }

void setThreadAffinity(int, int) {
  QDPIO::cout << "setThreadAffinity: has no effect; OMP_PLACES and OMP_PROC_BIND place threads" << std::endl;
}

void reportAffinity() {
  std::vector<std::string> lines(static_cast<std::size_t>(qdpNumThreads()));
#pragma omp parallel for num_threads(qdpNumThreads()) schedule(static, 1)
  for (std::size_t id = 0; id < lines.size(); ++id) {
    lines[id] = "thread " + std::to_string(id) + ":";
    cpu_set_t processors;
    CPU_ZERO(&processors);
    if (sched_getaffinity(0, sizeof processors, &processors) != 0) continue;
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &processors)) lines[id] += " " + std::to_string(i);
  }
  for (const std::string& line : lines) QDPIO::cout << line << std::endl;
}

}  // namespace QDP
