// One measured case, its share of the machine's ceilings, and the table and JSON that show it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "apps/bench/machine.hpp"

namespace bench {

struct Record {
  std::string suite, name;
  std::vector<int> lattice;
  Precision precision;
  std::string device;
  int ranks = 1;
  int threads;
  double seconds;         ///< median, per execution
  double spread;          ///< interquartile range over median
  double sites;           ///< that the statement writes or sums over
  double flops_per_site;  ///< of the algebra as written
  double bytes_per_site;  ///< each operand once, result once
  double gflops, gbytes_per_s;
  double share_of_triad, share_of_fma;
  double share_of_copy = 0;  ///< of a GPU
};

/// A case of the suite `comm`: what its messages cost the first rank, per execution.
struct ExchangeRecord {
  std::string name;
  std::vector<int> lattice, grid;  ///< of the whole; ranks
  Precision precision;
  int threads;
  int lanes;               ///< sites of a group
  double seconds;          ///< median of the case
  double sites;            ///< of this rank that it writes
  double share_of_faces;   ///< of these that wait for messages
  double messages, bytes;  ///< sent
  double pack_seconds, inner_seconds, wait_seconds, faces_seconds;
};

/// A kernel of the suite `jit`.
struct KernelRecord {
  std::string name;  ///< of the case whose statement it runs
  std::string kernel, hash;
  Precision precision;
  double cold_seconds;  ///< code generation, LLVM, loading; no cache
  double warm_seconds;  ///< loading from the disk cache, in a second process
  bool warm_from_cache;
};

/// A solver of the suite `solver`.
struct SolverRecord {
  std::string name;
  std::vector<int> lattice;
  int threads;
  bool converged;
  double residual;  ///< recomputed, |b - A x| / |b|
  int iterations;
  long applications, single_applications;  ///< of the operator in double and in single precision
  double seconds;                          ///< median, per solve
  double gflops;                           ///< operator and linear algebra
  double share_of_dslash;                  ///< gflops over those of the hopping term in double precision
  double time_to_cg, applications_to_cg;   ///< over those of the double-precision CG
};

/// The suite `hmc`: one trajectory and where its time goes.
struct TrajectoryRecord {
  struct Part {
    std::string name;
    double seconds, share;  ///< per trajectory, of the trajectory's time
  };
  struct Kernel {
    std::string name;
    double calls, share;  ///< per trajectory, of the trajectory's time
    double share_of_triad, gflops;
  };
  std::vector<int> lattice;
  int threads = 1;
  double seconds = 0;           ///< per trajectory
  double share_in_kernels = 0;  ///< the rest is the host's
  double fields_moved = 0;      ///< between the host and a GPU, per trajectory
  double gflops = 0;            ///< all kernels, over the trajectory's time
  std::vector<Part> parts;
  std::vector<Kernel> kernels;  ///< the most expensive ones
};

struct Report {
  Machine machine;
  std::vector<Record> records;
  std::vector<ExchangeRecord> exchanges;
  std::vector<KernelRecord> kernels;
  std::vector<SolverRecord> solvers;
  std::vector<TrajectoryRecord> trajectories;
};

/// Tables for people.
void print_machine(std::ostream& out, const Machine& machine);
void print_header(std::ostream& out);
void print(std::ostream& out, const Record& record);
void print(std::ostream& out, const ExchangeRecord& exchange);
void print_kernels(std::ostream& out, const std::vector<KernelRecord>& kernels);
void print_solvers(std::ostream& out, const std::vector<SolverRecord>& solvers);
void print_trajectory(std::ostream& out, const TrajectoryRecord& trajectory);

/// {"machine": {...}, "records": [...], "exchanges": [...], "kernels": [...], "solvers": [...], "trajectories": [...]}; members named as the fields above, `name` as "case".
void write_json(std::ostream& out, const Report& report);

}  // namespace bench
