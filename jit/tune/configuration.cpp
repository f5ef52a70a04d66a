#include "jit/tune/configuration.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace jit {
namespace {

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

/// Reads "name value" lines in order; a line that is not the expected one spoils all that follows.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  template <class T>
  void read(std::string_view name, T least, T& value) {
    const std::size_t end = rest_.find('\n');
    sound_ = sound_ && end != std::string_view::npos && end > name.size() && rest_.starts_with(name) &&
             rest_[name.size()] == ' ';
    if (!sound_) return;
    const char* const stop = rest_.data() + end;
    const auto [last, failure] = std::from_chars(rest_.data() + name.size() + 1, stop, value);
    sound_ = failure == std::errc{} && last == stop && value >= least;
    rest_.remove_prefix(end + 1);
  }
  bool all_read() const { return sound_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

std::string shortest(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

}  // namespace

std::string describe(const Configuration& configuration) {
  const CodeOptions& code = configuration.code;
  std::string words;
  if (configuration.block != 0) append(words, "block " + std::to_string(configuration.block));
  if (code.sites != 1) append(words, "sites " + std::to_string(code.sites));
  if (code.streaming) append(words, "streaming");
  if (code.prefetch != 0) append(words, "prefetch " + std::to_string(code.prefetch));
  if (code.passing) append(words, "passing");
  if (code.registers != 0) append(words, "at most " + std::to_string(code.registers) + " registers");
  if (code.optimised) append(words, "optimised");
  return words;
}

std::string text(const TuningProgress& progress) {
  const CodeOptions& code = progress.best.code;
  return "block " + std::to_string(progress.best.block) + "\nsites " + std::to_string(code.sites) + "\nstreaming " +
         std::to_string(code.streaming) + "\nprefetch " + std::to_string(code.prefetch) + "\npassing " +
         std::to_string(code.passing) + "\nregisters " + std::to_string(code.registers) + "\noptimised " +
         std::to_string(code.optimised) + "\nrounds " + std::to_string(progress.rounds) + "\nseconds " +
         shortest(progress.seconds) + "\nbytes " + shortest(progress.bytes) + "\n";
}

std::optional<TuningProgress> parse_progress(const std::string& text) {
  TuningProgress progress;
  CodeOptions& code = progress.best.code;
  int streaming = 0, passing = 0, optimised = 0;
  Lines lines(text);
  lines.read("block", 0, progress.best.block);
  lines.read("sites", 1, code.sites);
  lines.read("streaming", 0, streaming);
  lines.read("prefetch", 0, code.prefetch);
  lines.read("passing", 0, passing);
  lines.read("registers", 0, code.registers);
  lines.read("optimised", 0, optimised);
  lines.read("rounds", 0, progress.rounds);
  lines.read("seconds", 0.0, progress.seconds);
  lines.read("bytes", 0.0, progress.bytes);
  if (!lines.all_read() || streaming > 1 || passing > 1 || optimised > 1 || !std::isfinite(progress.seconds) ||
      !std::isfinite(progress.bytes))
    return std::nullopt;
  code.streaming = streaming == 1;
  code.passing = passing == 1;
  code.optimised = optimised == 1;
  return progress;
}

}  // namespace jit
