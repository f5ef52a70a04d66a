// The host as a target for kernels of one thread per site: the code of the simulated GPU.
#include "jit/codegen/codegen.hpp"
#include "jit/codegen/host_backend.hpp"
#include "jit/codegen/simt_emitter.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

constexpr int kDumpedGpu = 90;  ///< compute capability of the PTX that is dumped

class NoNotes : public BuildNotes {
 public:
  bool wants(const char*) const override { return false; }
  void stage(const char*, const std::string&) override {}
  void emitted() override {}
};

class SimtHostBackend : public HostBackend {
 public:
  SimtHostBackend() : description_("simt " + HostBackend::description()) {}

  const std::string& description() const override { return description_; }

 private:
  bool is_quick() const override { return true; }
  QuickCounts emit(llvm::Module& module, const ir::Kernel& kernel, const std::string& symbol,
                   const CodeOptions& options, bool quick) const override {
    return emit_simt_kernel(module, symbol, kernel, options, SimtMachine::host, sleef(isa()), quick);
  }

  void tell_more(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                 BuildNotes& notes) override {
    if (notes.wants("ptx")) notes.stage("ptx", ptx_of(kernel, symbol, options));
  }

  /// What an NVIDIA GPU would be given, so that runs on the simulated one show every kernel to ptxas.
  std::string ptx_of(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options) {
    if (!gpu_) gpu_ = make_nvptx_target(kDumpedGpu, nullptr);
    NoNotes silent;
    try {
      return gpu_->build(kernel, symbol, options, silent);
    } catch (const DeviceError& error) {  // no libdevice here
      return std::string("// ") + error.what() + "\n";
    }
  }

  std::unique_ptr<Target> gpu_;
  std::string description_;
};

}  // namespace

std::unique_ptr<Target> make_simt_host_target() { return std::make_unique<SimtHostBackend>(); }

}  // namespace jit
