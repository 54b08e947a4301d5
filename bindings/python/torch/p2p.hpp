// bindings/python/torch/p2p.hpp - messages from one rank to another.
//
// Each direction between two ranks is a communicator of its own, on which every message is two broadcasts: a header
// (group, tag, length) and the data. A receiver asks for the next header while somebody waits for a message from there.
// What comes before it is asked for is kept.
#pragma once

#include "work.hpp"

#include <list>
#include <map>

namespace tutti_torch {

struct Header {
  int64_t group, tag, bytes;
};

class RecvWork;

// From one rank to this one, or from this one to another.
class Channel {
public:
  Channel(tutti_context *context, int64_t from, int64_t to);
  ~Channel();

  // Receiving: moves on as far as it goes. Messages go to those that want them, in order.
  void advance();
  void want(c10::intrusive_ptr<RecvWork> work);
  // If a message for it has begun to come, that is the last one: the channel breaks.
  void give_up(const RecvWork *work, const std::string &why);

  std::mutex lock;
  tutti_comm *comm = nullptr;
  std::atomic<int> lookers{0}; // threads that wait for something to come here: nobody else need be told

private:
  struct Message {
    Header header;
    std::vector<char> data;
  };
  enum State { IDLE, AWAITS_HEADER, AWAITS_DATA };

  bool step();
  void begin(void *into, int64_t bytes, State next);
  static void told(void *channel);
  c10::intrusive_ptr<RecvWork> find_wanting(const Header &header);
  void begin_data();
  void deliver_kept();
  void drop_claimed();
  void end(tutti_status status);

  State state_ = IDLE;
  Header header_{};
  tutti_request *request_ = nullptr;
  std::list<c10::intrusive_ptr<RecvWork>> wanting_;
  std::list<Message> kept_;
  c10::intrusive_ptr<RecvWork> to_; // of the data that come; null: they are kept
  Message keeps_;
};

// The channels of a job, made when they are first used.
class Channels {
public:
  static std::shared_ptr<Channels> of(Job &job);
  std::shared_ptr<Channel> get(int64_t from, int64_t to);

private:
  explicit Channels(tutti_context *context) : context_(context) {}

  tutti_context *context_;
  std::mutex lock_;
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<Channel>> made_;
};

class RecvWork : public Work {
public:
  using Work::Work;

  int sourceRank() const override { return source.load(); }

  void want(); // asks for it in each channel
  void end_with_group() override;
  // It has arrived, or ends with an error; by whoever has claimed it.
  void arrive();
  void arrive_not(tutti_status status, const std::string &problem);

  std::vector<std::shared_ptr<Channel>> channels; // from where it may come
  std::vector<int> ranks;                         // of the group, of each channel
  std::atomic<size_t> open{0};                    // channels that have not ended
  Header wanted{};
  char *data = nullptr;
  std::atomic<int> source{-1};
  std::atomic<bool> claimed{false}, arrived{false};
  tutti_status status = TUTTI_OK; // valid once it has arrived
  std::string problem;

protected:
  bool step(bool late, tutti_status *status) override;
  tutti_status wait_for(std::chrono::milliseconds limit) override;
  // A program may listen for a message as long as it runs. With a future, somebody waits for it.
  bool has_limit() const override { return has_future(); }

private:
  std::string waited() const;
  void break_off(const std::string &why);
  bool is_late(std::chrono::milliseconds limit, Clock::time_point *looked);
  tutti_status look_within(std::chrono::milliseconds limit);
};

} // namespace tutti_torch
