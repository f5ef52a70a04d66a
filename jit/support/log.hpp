// Log lines on stderr: level, topic, text. Off is one relaxed load and one compare.
//
//   jit::log_info("jit", "kernel ", name, ": ", registers, " registers, ", time_us, " us");
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <type_traits>

namespace jit {

enum class LogLevel : int { error, warn, info, debug, trace };

namespace detail {

extern std::atomic<int> log_ceiling;  // no topic is told above this level

bool log_topic_enabled(LogLevel level, std::string_view topic);
void write_log_line(LogLevel level, std::string_view topic, std::string_view text);

void append_number(std::string& text, long long value);
void append_number(std::string& text, unsigned long long value);
void append_number(std::string& text, double value);

template <class T>
void append_log(std::string& text, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    text += value;
  } else if constexpr (std::is_floating_point_v<T>) {
    append_number(text, static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    append_number(text, static_cast<long long>(value));
  } else if constexpr (std::is_integral_v<T>) {
    append_number(text, static_cast<unsigned long long>(value));
  } else {
    text += std::string_view(value);
  }
}

}  // namespace detail

/// True if a line of this level and topic would be written; use it before building an expensive text.
inline bool log_enabled(LogLevel level, std::string_view topic = {}) {
  return static_cast<int>(level) <= detail::log_ceiling.load(std::memory_order_relaxed) &&
         detail::log_topic_enabled(level, topic);
}

/// Writes the parts (strings, characters, numbers, bool) as one line.
template <class... Parts>
void log_line(LogLevel level, std::string_view topic, const Parts&... parts) {
  if (!log_enabled(level, topic)) return;
  std::string text;
  (detail::append_log(text, parts), ...);
  detail::write_log_line(level, topic, text);
}

template <class... Parts>
void log_error(std::string_view topic, const Parts&... parts) {
  log_line(LogLevel::error, topic, parts...);
}
template <class... Parts>
void log_warn(std::string_view topic, const Parts&... parts) {
  log_line(LogLevel::warn, topic, parts...);
}
template <class... Parts>
void log_info(std::string_view topic, const Parts&... parts) {
  log_line(LogLevel::info, topic, parts...);
}
template <class... Parts>
void log_debug(std::string_view topic, const Parts&... parts) {
  log_line(LogLevel::debug, topic, parts...);
}
template <class... Parts>
void log_trace(std::string_view topic, const Parts&... parts) {
  log_line(LogLevel::trace, topic, parts...);
}

/// True for "level[,topic...]" with a known level.
bool is_log_spec(std::string_view spec);

/// Sets level and topics; env() calls it with TESSERA_LOG. With topics, info and below are told for these only;
/// errors and warnings always are. Throws UserError for an unknown level.
void configure_log(std::string_view spec);

/// Lines name this rank of the job from now on; -1: none, as at the start.
void set_log_rank(int rank);

/// Sends the lines to `sink` instead of stderr (tests); nullptr goes back to stderr.
void set_log_sink(void (*sink)(std::string_view line));

}  // namespace jit
