#pragma once
// Native work beside Python: without the GIL, and with locks that never wait while holding it.

#include <nanobind/nanobind.h>

#include <mutex>
#include <stdexcept>

#if defined(__GLIBC__)
#include <cxxabi.h>
#include <unistd.h>
#endif

namespace hinge::python {

namespace nb = nanobind;

/// Releases the GIL for a block. Unlike nanobind's own class it survives the end of the interpreter: a daemon thread that wants the
/// GIL back then is ended by CPython through pthread_exit, whose unwinding would end in std::terminate at the first noexcept frame. It
/// waits here instead until the process is gone, as threads do from Python 3.14 on.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
#if defined(__GLIBC__)
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      for (;;) pause();
    }
#else
    PyEval_RestoreThread(state_);
#endif
  }

 private:
  PyThreadState* state_;
};

/// For an object that only one thread may use at a time: a second one is refused.
class OneAtATime {
 public:
  explicit OneAtATime(std::mutex& mutex) : lock_(mutex, std::try_to_lock) {
    if (!lock_.owns_lock())
      throw std::runtime_error("this run is at work in another thread: give each thread a run of its own");
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// For an object that threads may share: they wait for each other, without the GIL.
class Turn {
 public:
  explicit Turn(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
    const WithoutGil released;
    lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace hinge::python
