#include "jit/gpu/ptxas.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/support/cuda_toolkit.hpp"
#include "jit/support/env.hpp"
#include "jit/support/file.hpp"

extern char** environ;

namespace jit {
namespace {

/// A file that is only memory: nothing is left of it, however the process ends, and no disk can be full.
Descriptor memory_file(const char* name) { return Descriptor(::memfd_create(name, MFD_CLOEXEC)); }

/// For a process that has the descriptor.
std::string path_of(const Descriptor& file) { return "/proc/self/fd/" + std::to_string(file.number()); }

/// Empty if it cannot be read.
std::string contents(const Descriptor& file) {
  try {
    return read_file(path_of(file));
  } catch (const FileError&) {
    return {};
  }
}

/// Runs a program with those files open, and what it says in `log`; whether it ended with status 0. In a process group of its own:
/// what a terminal interrupts is the program that waits for it.
bool runs(std::vector<std::string> command, const std::vector<const Descriptor*>& files, std::string& log) {
  const Descriptor output = memory_file("tessera-log");
  if (!output.open()) {
    log = "no memory for files";
    return false;
  }
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0) return false;
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return false;
  }
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.number(), STDERR_FILENO);
  for (const Descriptor* file : files)  // to itself: it stays open then
    ::posix_spawn_file_actions_adddup2(&actions, file->number(), file->number());
  pid_t process = 0;
  const int failure = ::posix_spawn(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    log = command[0] + ": " + std::strerror(failure);
    return false;
  }
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(process, &status, 0);
  while (ended < 0 && errno == EINTR);
  log = contents(output);
  return ended == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The one that is asked for, whether it is there or not, or those that there are.
std::vector<std::string> programs() {
  const std::string& wanted = env().ptxas;
  if (wanted == "0") return {};
  if (wanted != "auto") return {wanted};
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream stream(path);
    for (std::string folder; std::getline(stream, folder, ':');)
      if (!folder.empty()) folders.push_back(folder);
  }
  for (const std::string& toolkit : cuda_toolkits()) folders.push_back(toolkit + "/bin");
  std::vector<std::string> found;
  for (const std::string& folder : folders)
    if (std::string file = folder + "/ptxas"; ::access(file.c_str(), X_OK) == 0) found.push_back(std::move(file));
  return found;
}

/// Of "... release 13.0, V13.0.88": 13, and what begins with the V; 0 if it does not look like that.
std::pair<int, std::string> version_in(const std::string& text) {
  const std::size_t at = text.find(", V");
  if (at == std::string::npos) return {};
  std::size_t end = at + 3;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) ++end;
  return {std::atoi(text.c_str() + at + 3), text.substr(at + 2, end - at - 2)};
}

/// A kernel that does nothing, for any GPU.
constexpr const char* kEmptyPtx = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n";

constexpr std::string_view kElf = "\177ELF";  // with which a binary begins

}  // namespace

std::optional<Ptxas> Ptxas::find(int sm, int driver_major, const Takes& takes, std::string& why) {
  why = "there is no ptxas";
  for (const std::string& path : programs()) {
    Ptxas program(path, sm);
    why = program.objection(driver_major, takes);
    if (why.empty()) return program;
  }
  return std::nullopt;
}

std::string Ptxas::objection(int driver_major, const Takes& takes) {
  std::string log;
  if (!runs({path_, "--version"}, {}, log)) return path_ + " does not run: " + log;
  const auto [major, version] = version_in(log);
  if (major == 0) return path_ + " is not ptxas";
  if (major > driver_major)
    return path_ + " is of CUDA " + std::to_string(major) + ", the driver is of CUDA " + std::to_string(driver_major);
  name_ = "ptxas " + version;
  const auto binary = assemble(kEmptyPtx, 0, 3, log);
  if (!binary) return path_ + ", " + version + ", has no code for sm_" + std::to_string(sm_) + ": " + log;
  return takes(*binary) ? "" : path_ + ", " + version + ", makes code that the driver does not take";
}

std::optional<std::string> Ptxas::assemble(const std::string& ptx, int registers, int level, std::string& log) const {
  const Descriptor text = memory_file("tessera-ptx"), object = memory_file("tessera-cubin");
  if (!text.open() || !object.open() || !(std::ofstream(path_of(text)) << ptx << std::flush)) {
    log = "no memory for files";
    return std::nullopt;
  }
  std::vector<std::string> command{path_, "-v", "-arch=sm_" + std::to_string(sm_), "-O" + std::to_string(level)};
  if (registers > 0) command.push_back("-maxrregcount=" + std::to_string(registers));
  command.insert(command.end(), {path_of(text), "-o", path_of(object)});
  if (!runs(std::move(command), {&text, &object}, log)) return std::nullopt;
  std::string binary = contents(object);
  if (!binary.starts_with(kElf)) {
    log += "no binary";
    return std::nullopt;
  }
  return binary;
}

}  // namespace jit
