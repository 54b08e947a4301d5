// tests/python/stub/torch.hpp - the few types of torch, c10d and Python that tutti.torch's threads meet, so that they can
// be compiled with the thread sanitizer, which libtorch is not. They lock where torch's do.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#define TORCH_CHECK(holds, ...)                                                                                        \
  do                                                                                                                   \
    if (!(holds))                                                                                                      \
      throw std::runtime_error(#holds);                                                                                \
  while (0)

// ---- Python: a lock, and no exceptions ----

using PyGILState_STATE = int;
using PyThreadState = void;

class Gil {
public:
  static int &depth() {
    static thread_local int of_thread = 0;
    return of_thread;
  }
  static std::mutex &lock() {
    static std::mutex one;
    return one;
  }
};

inline PyGILState_STATE PyGILState_Ensure() {
  if (Gil::depth()++ == 0)
    Gil::lock().lock();
  return 0;
}

inline void PyGILState_Release(PyGILState_STATE) {
  if (--Gil::depth() == 0)
    Gil::lock().unlock();
}

inline int Py_IsInitialized() { return 1; }
inline int PyGILState_Check() { return Gil::depth() > 0; }
inline void *PyErr_Occurred() { return nullptr; }
inline int PyErr_CheckSignals() { return 0; }
inline int Py_AddPendingCall(int (*)(void *), void *) { return -1; }

// What comes back is the depth.
inline PyThreadState *PyEval_SaveThread() {
  auto depth = reinterpret_cast<void *>(intptr_t(Gil::depth()));
  Gil::depth() = 0;
  Gil::lock().unlock();
  return depth;
}

inline void PyEval_RestoreThread(PyThreadState *state) {
  Gil::lock().lock();
  Gil::depth() = int(reinterpret_cast<intptr_t>(state));
}

namespace pybind11 {
class module_;
struct error_already_set : std::runtime_error {
  error_already_set() : std::runtime_error("of Python") {}
  void restore() {}
};
} // namespace pybind11

// ---- c10, at ----

namespace c10 {

class Counted {
public:
  virtual ~Counted() = default;
  std::atomic<int> count{1}; // of references
};

template <class T> class intrusive_ptr {
public:
  intrusive_ptr() = default;
  intrusive_ptr(const intrusive_ptr &of) : of_(of.of_) { add(); }
  intrusive_ptr(intrusive_ptr &&of) noexcept : of_(of.of_) { of.of_ = nullptr; }
  template <class U> intrusive_ptr(const intrusive_ptr<U> &of) : of_(of.get()) { add(); }
  ~intrusive_ptr() { reset(); }
  intrusive_ptr &operator=(intrusive_ptr of) noexcept {
    std::swap(of_, of.of_);
    return *this;
  }
  void reset() {
    if (of_ && of_->count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete of_;
    of_ = nullptr;
  }
  static intrusive_ptr reclaim(T *of) {
    intrusive_ptr made;
    made.of_ = of;
    return made;
  }
  static intrusive_ptr unsafe_reclaim_from_nonowning(T *of) {
    intrusive_ptr made = reclaim(of);
    made.add();
    return made;
  }
  T *get() const { return of_; }
  T *operator->() const { return of_; }
  T &operator*() const { return *of_; }
  explicit operator bool() const { return of_; }

private:
  void add() {
    if (of_)
      of_->count.fetch_add(1, std::memory_order_acq_rel);
  }
  T *of_ = nullptr;
};

template <class T, class... A> intrusive_ptr<T> make_intrusive(A &&...arguments) {
  return intrusive_ptr<T>::reclaim(new T(std::forward<A>(arguments)...));
}

} // namespace c10

namespace at {
using Tensor = std::shared_ptr<std::vector<float>>;
struct AutoDispatchBelowADInplaceOrView {
  AutoDispatchBelowADInplaceOrView() {}
};
} // namespace at

namespace c10 {

using IValue = std::vector<at::Tensor>;
struct TensorType {
  static int get() { return 0; }
};
struct ListType {
  static int create(int) { return 0; }
};

namespace ivalue {
class Future : public Counted {
public:
  explicit Future(int) {}
  void markCompleted(IValue) { complete(nullptr); }
  void setError(std::exception_ptr error) { complete(error); }
  void addCallback(std::function<void()> callback) {
    {
      std::lock_guard<std::mutex> held(lock_);
      if (!completed_) {
        callbacks_.push_back(std::move(callback));
        return;
      }
    }
    callback();
  }
  void wait() {
    std::unique_lock<std::mutex> held(lock_);
    finished_.wait(held, [this] { return completed_; });
  }

private:
  void complete(std::exception_ptr error) {
    std::vector<std::function<void()>> callbacks;
    {
      std::lock_guard<std::mutex> held(lock_);
      completed_ = true;
      error_ = error;
      callbacks.swap(callbacks_);
    }
    finished_.notify_all();
    for (auto &callback : callbacks)
      callback();
  }

  std::mutex lock_;
  std::condition_variable finished_;
  bool completed_ = false;
  std::exception_ptr error_;
  std::vector<std::function<void()>> callbacks_;
};
} // namespace ivalue
} // namespace c10

// ---- c10d ----

constexpr auto kNoTimeout = std::chrono::milliseconds(0);

namespace c10d {

enum class OpType { ALLREDUCE, SEND, RECV, RECVANYSOURCE };

class Work : public c10::Counted {
public:
  Work(int, OpType type, const char *, const std::vector<at::Tensor> &) : type_(type) {}
  virtual bool isCompleted() = 0;
  virtual bool isSuccess() const = 0;
  virtual std::exception_ptr exception() const {
    std::lock_guard<std::mutex> held(mutex_);
    return exception_;
  }
  virtual int sourceRank() const { return -1; }
  virtual std::vector<at::Tensor> result() = 0;
  virtual bool wait(std::chrono::milliseconds timeout) = 0;
  virtual void synchronize() = 0;
  virtual c10::intrusive_ptr<c10::ivalue::Future> getFuture() = 0;
  OpType retrieveOpType() const { return type_; }

protected:
  void finish(std::exception_ptr exception) {
    std::lock_guard<std::mutex> held(mutex_);
    exception_ = exception;
  }

private:
  const OpType type_;
  mutable std::mutex mutex_;
  std::exception_ptr exception_;
};

class Store : public c10::Counted {
public:
  virtual void set(const std::string &key, const std::vector<uint8_t> &value) = 0;
  virtual std::vector<uint8_t> get(const std::string &key) = 0;
  virtual int64_t add(const std::string &key, int64_t value) = 0;
  virtual bool check(const std::vector<std::string> &keys) = 0;
  virtual void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &timeout) = 0;
};

} // namespace c10d
