// Which rank does the input and output, and how the others learn of it.
//
// One rank, the primary, touches files and terminals; what it reads is broadcast. All but is_primary() are collective.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "jit/comm/communicator.hpp"

namespace QDP::io {

inline constexpr int kPrimary = 0;

inline bool is_primary() { return jit::process_communicator().rank() == kPrimary; }

/// The primary's bytes, text or value for all.
void broadcast(void* data, std::size_t bytes);
void broadcast(std::string& text);
template <class T>
requires std::is_trivially_copyable_v<T> void broadcast(T& value) {
  broadcast(&value, sizeof value);
}

/// Over all ranks, rounded once.
double sum(double value);

/// Throws jit::UserError with this text on every rank if the primary passes a text.
void throw_everywhere(std::string failure);

/// Runs `action`, nothing in it collective, on the primary; what it throws is thrown everywhere, as jit::UserError.
template <class Action>
void on_primary(Action action) {
  if (jit::process_communicator().size() == 1) return action();  // alone: the exception keeps its type
  std::string failure;
  if (is_primary()) {
    try {
      action();
    } catch (const std::exception& e) {
      failure = e.what();
      if (failure.empty()) failure = "an error without a text on the primary rank";
    }
  }
  throw_everywhere(std::move(failure));
}

}  // namespace QDP::io
