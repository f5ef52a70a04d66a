#include "jit/support/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <optional>
#include <vector>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace detail {

// Everything passes until the first line reads TESSERA_LOG.
std::atomic<int> log_ceiling{static_cast<int>(LogLevel::trace)};

}  // namespace detail

namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"error", "warn", "info", "debug", "trace"};

struct LogState {
  std::mutex mutex;
  std::atomic<bool> configured{false};
  std::vector<std::string> topics;
  void (*sink)(std::string_view) = nullptr;
  int rank = -1;
};

LogState& state() {
  static LogState* instance = new LogState;  // never destroyed: destructors of static objects may still log
  return *instance;
}

struct LogSpec {
  LogLevel level;
  std::vector<std::string> topics;
};

std::optional<LogSpec> parse(std::string_view spec) {
  const std::size_t comma = std::min(spec.find(','), spec.size());
  const auto name = std::find(kLevelNames.begin(), kLevelNames.end(), spec.substr(0, comma));
  if (name == kLevelNames.end()) return std::nullopt;
  LogSpec result{static_cast<LogLevel>(name - kLevelNames.begin()), {}};
  for (std::size_t begin = comma + 1; begin < spec.size();) {
    const std::size_t end = std::min(spec.find(',', begin), spec.size());
    if (end > begin) result.topics.emplace_back(spec.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// The first line of a process may come before anything asked for env().
void configure_from_env() {
  try {
    env();
  } catch (const Error&) {
    configure_log("warn");  // env() throws the same error again where the program asks for its values
  }
}

}  // namespace

namespace detail {

bool log_topic_enabled(LogLevel level, std::string_view topic) {
  LogState& log = state();
  if (!log.configured.load(std::memory_order_acquire)) configure_from_env();
  if (static_cast<int>(level) > log_ceiling.load(std::memory_order_relaxed)) return false;
  if (level <= LogLevel::warn) return true;
  const std::lock_guard lock(log.mutex);
  return log.topics.empty() || std::find(log.topics.begin(), log.topics.end(), topic) != log.topics.end();
}

void write_log_line(LogLevel level, std::string_view topic, std::string_view text) {
  LogState& log = state();
  const std::lock_guard lock(log.mutex);
  std::string line = "tessera ";
  line += kLevelNames[static_cast<std::size_t>(level)];
  if (!topic.empty()) line.append(" [").append(topic).append("]");
  if (log.rank >= 0) line.append(" rank ").append(std::to_string(log.rank));
  line.append(": ").append(text);
  if (log.sink != nullptr) return log.sink(line);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so that lines of several ranks do not mix
}

void append_number(std::string& text, long long value) { text += std::to_string(value); }
void append_number(std::string& text, unsigned long long value) { text += std::to_string(value); }
void append_number(std::string& text, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  text += buffer;
}

}  // namespace detail

bool is_log_spec(std::string_view spec) { return parse(spec).has_value(); }

void configure_log(std::string_view spec) {
  std::optional<LogSpec> parsed = parse(spec);
  if (!parsed)
    throw UserError({.what = "log level",
                     .expected = "error|warn|info|debug|trace[,topic...]",
                     .got = "\"" + std::string(spec) + "\""});
  LogState& log = state();
  const std::lock_guard lock(log.mutex);
  log.topics = std::move(parsed->topics);
  detail::log_ceiling.store(static_cast<int>(parsed->level), std::memory_order_relaxed);
  log.configured.store(true, std::memory_order_release);
}

void set_log_rank(int rank) {
  LogState& log = state();
  const std::lock_guard lock(log.mutex);
  log.rank = rank;
}

void set_log_sink(void (*sink)(std::string_view)) {
  LogState& log = state();
  const std::lock_guard lock(log.mutex);
  log.sink = sink;
}

}  // namespace jit
