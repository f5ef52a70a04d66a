// Which rank does the input and output, and how the others learn of it.
//
// One rank, the primary, touches files, terminals and clocks; what it finds is broadcast. All but is_primary() are
// collective.
//
//   const bool there = io::once([&] { return std::filesystem::exists(file); });   // the same answer everywhere
//   if (io::anywhere(signal_came)) ...                                            // all stop, or none
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace QDP::io {

inline constexpr int kPrimary = 0;

bool is_primary();
/// Whether there is no other rank.
bool is_alone();

/// The primary's bytes, text or value for all.
void broadcast(void* data, std::size_t bytes);
void broadcast(std::string& text);
template <class T>
requires std::is_trivially_copyable_v<T> void broadcast(T& value) {
  broadcast(&value, sizeof value);
}
void broadcast(std::vector<std::string>& texts);
template <class T>
requires std::is_trivially_copyable_v<T> void broadcast(std::vector<T>& values) {
  std::size_t size = values.size();
  broadcast(size);
  values.resize(size);
  broadcast(values.data(), size * sizeof(T));
}
template <class... Values> void broadcast_all(Values&... values) { (broadcast(values), ...); }

/// Over all ranks, rounded once.
double sum(double value);

/// Whether it is true on any rank.
bool anywhere(bool here);

/// Throws jit::UserError with this text on every rank if the primary passes a text.
void throw_everywhere(std::string failure);
/// The same if any rank passes one; of several that of the highest rank, as the primary's may say no more than that another
/// failed.
void throw_everywhere_of_any(std::string failure);

/// Throws jit::UserError on every rank unless all have the same text: jit/comm/collectives.
void require_same_on_all_ranks(const std::string& what, const std::string& mine, const std::string& what_now);

/// A function without arguments, by reference: it lives until the call that takes it has returned.
class Call {
 public:
  template <class Action>
  requires(!std::is_same_v<std::remove_cvref_t<Action>, Call>) Call(Action&& action)
      : what_(const_cast<void*>(static_cast<const void*>(&action))),
        run_([](void* what) { static_cast<void>((*static_cast<std::remove_reference_t<Action>*>(what))()); }) {}
  void operator()() const { run_(what_); }

 private:
  void* what_;
  void (*run_)(void* what);
};

/// Runs `action`: the text of what it throws (`unknown` if it has none), or nothing.
std::string failure_of(Call action, const char* unknown = "an error without a text");

/// Runs `action`, nothing in it collective, on the primary; what it throws is thrown everywhere, as jit::UserError.
void on_primary(Call action);

/// The same for a question to the file system, the clock, a file: the primary asks, all get the answer.
template <class Action> auto once(Action action) {
  using Answer = std::invoke_result_t<Action>;
  if constexpr (std::is_void_v<Answer>) {
    on_primary(action);
  } else {
    Answer answer{};
    on_primary([&] { answer = action(); });
    broadcast(answer);
    return answer;
  }
}

/// Runs `action`, nothing in it collective, on every rank; what it throws on one is thrown on all, as jit::UserError.
void on_every_rank(Call action);

}  // namespace QDP::io
