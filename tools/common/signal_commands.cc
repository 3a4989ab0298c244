#include "common/signal_commands.h"

#include <csignal>

#include "common/process.h"

namespace kstream::tools {

SignalCommands::SignalCommands(Runtime* runtime, Reporter* reporter)
    : runtime_(runtime), reporter_(reporter), thread_([this] { Loop(); }) {}

SignalCommands::~SignalCommands() {
  done_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

void SignalCommands::Loop() {
  // The others are for the thread that runs the stage: they wake its reads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const sigset_t commands = CommandSignals();
  for (;;) {
    int signal = 0;
    if (sigwait(&commands, &signal) != 0 || done_) return;
    if (signal == SIGUSR1) {
      reporter_->Status(runtime_->StatusJson());
    } else if (runtime_->paused()) {
      runtime_->Resume();
    } else {
      runtime_->Pause();
    }
  }
}

}  // namespace kstream::tools
