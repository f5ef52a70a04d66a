// Which process does the input and output, and how the others learn of it.
//
// One process, the primary, touches files and terminals; what it reads is broadcast. QDP_initialize tells this file how
// with set_process(); until then (and without MPI) every process is its own primary and nothing is sent.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>

namespace QDP::io {

struct Process {
  bool primary = true;
  unsigned long long sites = 0;                                ///< lattice sites of this process
  void (*broadcast)(void* data, std::size_t bytes) = nullptr;  ///< from the primary to all; collective
  double (*sum)(double) = nullptr;                             ///< over all processes; collective
  void (*abort_all)(int status) = nullptr;                     ///< ends the other processes
};

const Process& process();
void set_process(const Process& process);

inline bool is_primary() { return process().primary; }

void broadcast(void* data, std::size_t bytes);
void broadcast(std::string& text);
template <class T>
requires std::is_trivially_copyable_v<T> void broadcast(T& value) {
  broadcast(&value, sizeof value);
}

double sum(double value);

/// Throws jit::UserError with this text on every process if the primary passes a text. Collective.
void throw_everywhere(std::string failure);

/// Runs `action` on the primary; what it throws there is thrown everywhere, as jit::UserError. Collective.
template <class Action>
void on_primary(Action action) {
  if (process().broadcast == nullptr) return action();  // alone: the exception keeps its type
  std::string failure;
  if (is_primary()) {
    try {
      action();
    } catch (const std::exception& e) {
      failure = e.what();
    }
  }
  throw_everywhere(std::move(failure));
}

}  // namespace QDP::io
