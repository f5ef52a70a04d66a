#include "apps/bench/suite_jit.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>

#include "apps/bench/fields.hpp"
#include "apps/bench/suites.hpp"
#include "jit/runtime.hpp"
#include "jit/support/error.hpp"

namespace bench {
namespace {

/// Runs each statement once and notes the kernels that it made.
class KernelSession : public Session {
 public:
  explicit KernelSession(std::ostream& out) : out_(out) {}

  void set_precision(Precision precision) { precision_ = precision; }

  void run(const std::string& name, const Work&, const std::function<void()>& statement) override {
    note_new_kernels("setup");  // those that filled the operands
    statement();
    note_new_kernels(name);
  }

 private:
  void note_new_kernels(const std::string& name) {
    for (const jit::KernelInfo& kernel : jit::Runtime::instance().kernels())
      if (known_.insert(kernel.hash).second)
        out_ << name << '\t' << name_of(precision_) << '\t' << kernel.hash << '\t' << kernel.compile_seconds << '\t'
             << kernel.from_cache << '\t' << kernel.name << '\n';
  }

  std::ostream& out_;
  Precision precision_ = Precision::kDouble;
  std::set<std::string> known_;
};

/// A folder that lives as long as this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tessera-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      throw jit::UserError(
          {.what = "kernel cache for the measurement",
           .expected = "a folder that can be made in " + std::filesystem::temp_directory_path().string(),
           .what_now = "set TMPDIR to a folder that can be written"});
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Precision base_precision() { return sizeof(QDP::REAL) == 4 ? Precision::kSingle : Precision::kDouble; }

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// What this program prints when started with --jit-pass with the given kernel cache.
std::string output_of_pass(const Options& options, const std::filesystem::path& cache) {
  // Without tuning, so that both passes make the same kernels.
  std::string command = "TESSERA_TUNE=0 TESSERA_CACHE=1 TESSERA_CACHE_DIR=" + quoted(cache) + " " +
                        quoted(std::filesystem::read_symlink("/proc/self/exe")) + " jit --jit-pass --lattice";
  for (const int extent : options.lattices.front()) command += " " + std::to_string(extent);
  const char* separator = " --precision ";
  for (const Precision precision : options.precisions) {
    command += separator + std::string(name_of(precision));
    separator = ",";
  }

  const auto close = [](FILE* pipe) { pclose(pipe); };
  std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  if (!pipe) throw jit::DeviceError({.what = "starting the compilation pass", .where = command});
  std::string output;
  char part[4096];
  while (const std::size_t n = fread(part, 1, sizeof part, pipe.get())) output.append(part, n);
  if (pclose(pipe.release()) != 0) throw jit::InternalError({.what = command, .expected = "exit status 0"});
  return output;
}

struct Line {
  std::string name, precision, hash, kernel;
  double seconds;
  bool from_cache;
};

std::vector<Line> parse(const std::string& output) {
  std::vector<Line> lines;
  std::istringstream in(output);
  for (Line line; std::getline(in, line.name, '\t') && std::getline(in, line.precision, '\t') &&
                  std::getline(in, line.hash, '\t') && in >> line.seconds >> line.from_cache &&
                  std::getline(in >> std::ws, line.kernel);)
    lines.push_back(line);
  return lines;
}

}  // namespace

void run_jit_pass(const Options& options, std::ostream& out) {
  create_lattice(options.lattices.front());
  KernelSession session(out);
  for (const Precision precision : options.precisions) {
    session.set_precision(precision);
    run_expr(session, precision);
    run_dslash(session, precision);
  }
  session.set_precision(base_precision());
  run_hmc_trajectory(session);
}

std::vector<KernelRecord> measure_compilation(const Options& options) {
  const TemporaryFolder cache;
  const std::vector<Line> cold = parse(output_of_pass(options, cache.path()));
  std::map<std::string, Line> warm;
  for (const Line& line : parse(output_of_pass(options, cache.path()))) warm[line.hash] = line;

  std::vector<KernelRecord> records;
  for (const Line& line : cold) {
    const auto again = warm.find(line.hash);
    if (again == warm.end())
      throw jit::InternalError(
          {.what = "bench jit: kernel " + line.kernel, .expected = "the same kernels in both passes"});
    records.push_back({.name = line.name,
                       .kernel = line.kernel,
                       .hash = line.hash,
                       .precision = precision_from(line.precision),
                       .cold_seconds = line.seconds,
                       .warm_seconds = again->second.seconds,
                       .warm_from_cache = again->second.from_cache});
  }
  return records;
}

namespace {

template <class P>
void host_axpy(Session& session) {
  typename P::Fermion x, y;
  gaussian(x);
  gaussian(y);
  const typename P::Real a = 1e-6;
  session.run("host_axpy", {2 * 24, 3 * 24}, [&] { y += a * x; });
}

}  // namespace

void measure_host_cost(TimedSession& session, Precision precision) {
  precision == Precision::kSingle ? host_axpy<SingleFields>(session) : host_axpy<DoubleFields>(session);
}

}  // namespace bench
