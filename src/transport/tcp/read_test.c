/* What a connection makes of the bytes that come: packets and acks in pieces of any size, and what an enemy could say.
 */
#include "transport/tcp/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 60000 };

typedef struct side {
  int fd; /* the other end */
  tt_tcp_connection *connection;
  tt_streams_pool pool;
  tt_tcp_reader reader;
  uint64_t packets, acks, wanted; /* that came; the next packet's number */
  size_t most_bytes;              /* of a packet that is taken */
  unsigned char scratch[TT_TCP_SCRATCH_BYTES];
} side;

static unsigned char byte_of(uint64_t packet, size_t n) { return (unsigned char)(packet * 37 + n); }

static tt_tcp_fate begin(void *user, tt_tcp_connection *connection, const tt_streams_head *head,
                         tt_streams_packet **packet) {
  side *at = user;
  (void)connection;
  if (head->bytes > at->most_bytes)
    return TT_TCP_LACKS;
  if (head->packet % 5 != 0) /* those have come before */
    *packet = tt_streams_pool_get(&at->pool, head->bytes);
  return TT_TCP_GOES;
}

static tt_tcp_fate deliver_take(void *user, tt_tcp_connection *connection, tt_streams_packet *packet) {
  side *at = user;
  (void)connection;
  if (at->wanted > 0) {
    at->wanted += at->wanted % 5 == 0;
    assert_true(packet->number == at->wanted && packet->head.slot == (uint32_t)at->wanted);
    for (size_t n = 0; n < packet->bytes; n++)
      assert_int_equal(packet->data[n], byte_of(packet->number, n));
    at->wanted++;
  }
  at->packets++;
  tt_streams_pool_put(&at->pool, packet);
  return TT_TCP_GOES;
}

static tt_tcp_fate ack(void *user, tt_tcp_connection *connection, tt_tcp_ack said) {
  side *at = user;
  (void)connection;
  if (said.kind < TT_TCP_HAD || said.kind > TT_TCP_LEAVES)
    return TT_TCP_WRONG;
  assert_true(said.first == said.last + 1 || at->wanted == 0);
  at->acks++;
  return TT_TCP_GOES;
}

static side *open_side(bool called) {
  int fd[2];
  side *at = calloc(1, sizeof *at);
  assert_non_null(at);
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
  at->fd = fd[1];
  at->connection = tt_tcp_connection_create(fd[0], 1, 0, called);
  at->reader = (tt_tcp_reader){.begin = begin, .deliver_take = deliver_take, .ack = ack, .user = at};
  at->most_bytes = MOST;
  assert_non_null(at->connection);
  return at;
}

static void close_side(side *at) {
  close(at->fd);
  tt_tcp_connection_destroy(at->connection, &at->pool);
  tt_streams_pool_finish(&at->pool);
  free(at);
}

static tt_tcp_fate hear(side *at, const void *bytes, size_t size) {
  assert_int_equal(send(at->fd, bytes, size, 0), size);
  return tt_tcp_connection_read(at->connection, SIZE_MAX, at->scratch, &at->reader);
}

static tt_streams_head head_of(uint64_t packet, size_t bytes) {
  return (tt_streams_head){
      .packet = packet, .slot = (uint32_t)packet, .bytes = (uint32_t)bytes, .kind = TT_STREAMS_DATA};
}

/* Many packets of all sizes, one after the other. */
static unsigned char *make_packets(uint64_t count, size_t *size) {
  unsigned char *wire = malloc(count * (sizeof(tt_streams_head) + MOST));
  tt_random random;
  tt_random_init(&random, 3);
  *size = 0;
  assert_non_null(wire);
  for (uint64_t n = 1; n <= count; n++) {
    size_t bytes = (size_t)tt_random_below(&random, n % 2 ? MOST : 100);
    tt_streams_head head = head_of(n, bytes);
    tt_streams_head_turn(&head);
    memcpy(wire + *size, &head, sizeof head);
    *size += sizeof head;
    for (size_t b = 0; b < bytes; b++)
      wire[(*size)++] = byte_of(n, b);
  }
  return wire;
}

static void test_packets_in_pieces_of_any_size_come_whole(void **state) {
  (void)state;
  size_t size, sent = 0;
  unsigned char *wire = make_packets(200, &size);
  side *at = open_side(false);
  at->wanted = 1;
  tt_random random;
  tt_random_init(&random, 11);
  while (sent < size) {
    static const size_t most[] = {1, 70, 3000, 100000};
    size_t piece = 1 + (size_t)tt_random_below(&random, most[tt_random_below(&random, 4)]);
    piece = piece < size - sent ? piece : size - sent;
    assert_int_equal(hear(at, wire + sent, piece), TT_TCP_GOES);
    sent += piece;
  }
  assert_int_equal(at->packets, 160); /* every fifth had come before */
  shutdown(at->fd, SHUT_WR);
  assert_int_equal(tt_tcp_connection_read(at->connection, SIZE_MAX, at->scratch, &at->reader), TT_TCP_ENDED);
  close_side(at);
  free(wire);
}

static tt_tcp_fate begin_new(void *user, tt_tcp_connection *connection, const tt_streams_head *head,
                             tt_streams_packet **packet) {
  side *at = user;
  (void)connection;
  if (head->packet > at->packets)
    *packet = tt_streams_pool_get(&at->pool, head->bytes);
  return TT_TCP_GOES;
}

static void ignore(void *user, const tt_streams_packet *packet) {
  (void)user;
  (void)packet;
}

/* As many as there may be, behind packets of any length, whole ones and those of which a part is still to go. */
static void test_nudges_are_skipped(void **state) {
  (void)state;
  side *from = open_side(true), *to = open_side(false);
  close(to->connection->fd);
  to->connection->fd = from->fd;
  to->reader.begin = begin_new;
  tt_streams_queue queue = {NULL, NULL};
  for (uint64_t n = 1; n <= 200; n++) {
    tt_streams_packet *packet = tt_streams_pool_get(&from->pool, n % 7 ? n : MOST);
    assert_non_null(packet);
    packet->head = head_of(n, n % 7 ? n : MOST);
    tt_streams_packet_seal(packet, n);
    tt_streams_queue_add(&queue, packet);
    for (int turn = 0; turn < 3; turn++) {
      assert_int_equal(tt_tcp_connection_send(from->connection, &queue, SIZE_MAX, ignore, NULL), TT_TCP_GOES);
      assert_int_equal(tt_tcp_connection_nudge(from->connection), TT_TCP_GOES);
      from->connection->full = false;
      if (n % 20 == 0)
        assert_int_equal(tt_tcp_connection_read(to->connection, SIZE_MAX, to->scratch, &to->reader), TT_TCP_GOES);
    }
  }
  assert_true(!queue.first && from->connection->part == 0);
  assert_int_equal(tt_tcp_connection_read(to->connection, SIZE_MAX, to->scratch, &to->reader), TT_TCP_GOES);
  assert_int_equal(to->packets, 200);
  from->fd = dup(to->connection->fd);
  close_side(to);
  close_side(from);
}

static void test_acks_in_pieces_of_any_size_come_whole(void **state) {
  (void)state;
  side *at = open_side(true);
  at->wanted = 1;
  tt_tcp_acks acks = {.bytes = NULL};
  for (uint64_t n = 0; n < 300; n++)
    assert_int_equal(tt_tcp_acks_add(&acks, (tt_tcp_ack){(uint32_t)(1 + n % 3), (uint32_t)n, n + 1, n}), TUTTI_OK);
  for (size_t piece = 1; acks.begin < acks.end; piece = piece % 61 + 1) {
    piece = piece < acks.end - acks.begin ? piece : acks.end - acks.begin;
    assert_int_equal(hear(at, acks.bytes + acks.begin, piece), TT_TCP_GOES);
    acks.begin += piece;
  }
  assert_int_equal(at->acks, 300);
  tt_tcp_acks_finish(&acks);
  close_side(at);
}

static void test_a_head_that_is_wrong_ends_the_connection(void **state) {
  (void)state;
  const tt_streams_head good = head_of(1, 0);
  tt_streams_head bad[9];
  for (size_t n = 0; n < TT_COUNT(bad); n++)
    bad[n] = good;
  bad[0].packet = 0;
  bad[1].packet = (uint64_t)1 << 63;
  bad[2].bytes = TT_STREAMS_PACKET_BYTES + 1;
  bad[3].kind = 0;
  bad[4].kind = TT_STREAMS_BYE + 1;
  bad[5].again = 2;
  bad[6].reserved[sizeof good.reserved - 1] = 1;
  bad[7].kind = TT_STREAMS_END;
  bad[7].bytes = 1;
  bad[8].kind = TT_STREAMS_BYE;
  bad[8].bytes = 1;
  for (size_t n = 0; n < TT_COUNT(bad); n++) {
    side *at = open_side(false);
    tt_streams_head_turn(&bad[n]);
    assert_int_equal(hear(at, &bad[n], sizeof bad[n]), TT_TCP_WRONG);
    assert_true(at->connection->why && at->packets == 0);
    close_side(at);
  }
}

/* The good bytes of packets, with a few changed: nothing but packets of a legal length is delivered, nothing is lost.
 */
static void test_random_changes_do_no_harm(void **state) {
  (void)state;
  int rounds = getenv("TUTTI_TEST_LONG") ? 100000 : 5000;
  tt_random random;
  tt_random_init(&random, 5);
  for (int round = 0; round < rounds; round++) {
    unsigned char wire[400];
    bool called = round % 4 == 0;
    side *at = open_side(called);
    for (size_t b = 0; b < sizeof wire; b += 8) {
      uint64_t word_of_it = round % 2 ? tt_random_next(&random) : 0;
      memcpy(wire + b, &word_of_it, 8);
    }
    tt_streams_head head = head_of(1, 100);
    tt_streams_head_turn(&head);
    memcpy(wire, &head, sizeof head);
    memcpy(wire + 164, &head, sizeof head);
    for (uint64_t n = tt_random_below(&random, 4); n > 0; n--)
      wire[tt_random_below(&random, sizeof wire)] = (unsigned char)tt_random_next(&random);
    tt_tcp_fate fate = hear(at, wire, sizeof wire);
    assert_true(fate == TT_TCP_GOES || fate == TT_TCP_WRONG || fate == TT_TCP_LACKS);
    assert_true(at->packets <= sizeof wire / sizeof head);
    close_side(at);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_packets_in_pieces_of_any_size_come_whole),
      cmocka_unit_test(test_nudges_are_skipped),
      cmocka_unit_test(test_acks_in_pieces_of_any_size_come_whole),
      cmocka_unit_test(test_a_head_that_is_wrong_ends_the_connection),
      cmocka_unit_test(test_random_changes_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
