// Which code of a kernel runs, and how: what the model says, what an earlier run has found, or what the tuner tries.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/cache/kernel_cache.hpp"
#include "jit/device/device.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/tune/program_trial.hpp"

namespace jit {

struct ReadingRate;

class Variants {
 public:
  explicit Variants(Device& device) : device_(device) {}
  /// What is built beside the program asks the device.
  ~Variants() {
    if (builders_) builders_->finish();
  }
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;

  /// Before each launch in a size class; `bytes` are those that the first one moves. Throws what the compiler throws.
  void prepare(KernelHandle& kernel, std::size_t size_class, double bytes) {
    if (kernel.classes.size() <= size_class) kernel.classes.resize(size_class + 1);
    if (kernel.classes[size_class].variant == nullptr) prepare_first(kernel, size_class, bytes);
  }
  /// Before the first launch, perhaps some time: code that takes long to make is begun beside the program.
  void expect(KernelHandle& kernel, std::size_t size_class, double bytes);
  /// Whether the first launch finds code, or has to make it; false: that takes long, and is done beside the program.
  bool is_at_hand(KernelHandle& kernel, std::size_t size_class, double bytes);
  /// After a launch that the device refused: launches other configurations until one runs. DeviceError if none does.
  void retry(KernelHandle& kernel, std::size_t size_class, double bytes, DeviceLaunch& run);
  /// Makes a launch one of the best configuration so far, whatever is being tried.
  void apply_best(const KernelHandle& kernel, std::size_t size_class, DeviceLaunch& run) const;
  /// After a launch in a size class that has a tuner, with the launch's time if it was taken.
  void launched(KernelHandle& kernel, std::size_t size_class, double bytes, std::optional<double> seconds);

  /// After each launch whose time was taken and that was no trial of code. Whether it was one of how results are stored.
  bool passed(KernelHandle& kernel, std::size_t size_class, double seconds) {
    seconds_ += seconds;
    return (stores_ || kernel.classes[size_class].stores_open) && try_stores(kernel, size_class, seconds);
  }
  /// Before size classes are given up.
  void forget_trial() { stores_.reset(); }

  /// Keeps of what is built beside the program what is made; what is not begun is dropped. May be followed by more launches.
  void finish(std::span<const std::unique_ptr<KernelHandle>> kernels);

  /// Gives the kernel's code up. The device must be idle.
  void release(const KernelHandle& kernel) noexcept;

  /// How the kernel runs on the largest domain, for people: "block 256, sites 2, 48 registers, occupancy 0.62".
  std::string describe(const KernelHandle& kernel);
  /// Kernels that were compiled, not found in the kernel cache.
  std::int64_t compilations() const { return compilations_; }
  Compiler& compiler();
  /// What builds beside the program.
  Builders& builders();

  /// Whether the threads' own caches hold so much. On the host.
  bool is_near(double bytes) const;
  /// Whether so much comes from memory each time it is read. On the host.
  bool exceeds_caches(double bytes);
  /// Whether that can be answered without a measurement. Ranks of a machine share it: what one has measured by itself holds for it until
  /// all have measured together, and is not kept for other runs.
  bool knows_machine(double bytes);
  /// Measures it, beside the other ranks of this machine that begin at the same time. On the host.
  void measure_machine();
  /// Whether so much is read without waiting whatever the machine.
  bool is_small(double bytes) const;

 private:
  void prepare_first(KernelHandle& kernel, std::size_t size_class, double bytes);
  bool may_exceed_caches(double bytes) const;
  std::string machine_key(const std::string& what) const;
  struct OfMachine {
    std::vector<double> values;  ///< none: not known
    bool alone = false;          ///< measured by this rank when others did something else
  };
  OfMachine& known_of_machine(const std::string& what);
  void learn_of_machine(const std::string& what, std::vector<double> values);
  template <class Measure>
  const std::vector<double>& of_machine(const std::string& what, Measure&& measure);
  std::vector<ReadingRate> reading();
  TuningSpace space(const KernelHandle& kernel, double bytes);
  Variant* find(const KernelHandle& kernel, const CodeOptions& options) const;
  Variant& make(KernelHandle& kernel, const CodeOptions& options);
  bool is_built_beside(const KernelHandle& kernel, const CodeOptions& options);
  bool is_worth_making(const KernelHandle& kernel, const CodeOptions& options) const;
  Variant& add(KernelHandle& kernel, const CodeOptions& options);
  void put(KernelHandle& kernel, Variant& variant, const CompiledKernel& made);
  void seek(KernelHandle& kernel, Variant& variant);
  bool awaits(KernelHandle& kernel, const CodeOptions& options);
  bool take_built(KernelHandle& kernel, Variant& variant);
  bool usable(KernelHandle& kernel, const Configuration& configuration);
  void use(KernelHandle& kernel, SizeClass& size, const Configuration& configuration);
  void begin(KernelHandle& kernel, SizeClass& size, const TuningSpace& open);
  void follow(KernelHandle& kernel, std::size_t size_class, double bytes);
  void drop(KernelHandle& kernel, SizeClass& size);
  bool was_busy(SizeClass& size, double bytes, double seconds);
  bool may_try_stores(const KernelHandle& kernel, double bytes) const;
  bool try_stores(KernelHandle& kernel, std::size_t size_class, double seconds);
  void end_stores_trial(bool other_is_better);
  double price(const KernelHandle& kernel) const;
  std::string key(KernelHandle& kernel, std::size_t size_class, const TuningSpace& open);
  std::optional<TuningProgress> remembered(const SizeClass& size, const TuningSpace& open);
  std::string words(const SizeClass& size);
  void log_choice(const KernelHandle& kernel, const SizeClass& size, double bytes, const char* how);

  Device& device_;
  std::unique_ptr<Compiler> compiler_;  // opening LLVM takes milliseconds: at the first compilation
  std::unique_ptr<Builders> builders_;  // at the first order
  std::optional<KernelCache> cache_ = KernelCache::from_environment();
  std::int64_t compilations_ = 0;
  /// Whether streaming stores, or plain ones where the model streams, are better for the program: of one kernel at a time.
  struct StoresTrial {
    KernelHandle* kernel;
    std::size_t size_class;
    Configuration first, other;
    ProgramTrial trial;
  };
  std::optional<StoresTrial> stores_;
  double seconds_ = 0;  ///< of all launches
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_made_{};                                ///< code that the program waited for
  std::map<std::pair<std::string, int>, OfMachine> of_machine_;  ///< by the number of threads
};

/// Makes a launch one of this configuration, whose code the variant is.
inline void apply(const Configuration& options, const Variant& variant, DeviceLaunch& run) {
  run.code = variant.code;
  run.block = options.block;
  run.sites = options.code.sites;
}
inline void apply(const SizeClass& size, DeviceLaunch& run) { apply(size.options, *size.variant, run); }

}  // namespace jit
