/* Congestion controllers for thalweg in C: the interface of crates/plugin/src/abi.rs, version 1.
 *
 * A library exports thalweg_plugin, which answers with a table that lives as long as the library. Times are
 * picoseconds, sizes bytes of payload, rates bit/s. A number that is absent is THALWEG_NONE. Callbacks return 0, or
 * anything else with a reason written into the sink: the run then ends with it. Of one controller calls never overlap;
 * several run in several threads. */
#ifndef THALWEG_PLUGIN_H
#define THALWEG_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define THALWEG_VERSION 1u
#define THALWEG_NONE UINT64_MAX

/* thalweg_table.wants */
#define THALWEG_ECN 1u
#define THALWEG_TELEMETRY 2u

/* thalweg_ack.flags */
#define THALWEG_IN_RECOVERY 1u
#define THALWEG_APP_LIMITED 2u
#define THALWEG_CWND_LIMITED 4u
#define THALWEG_DELIVERY 8u
#define THALWEG_RESENT 16u
#define THALWEG_HELD_BACK 32u

/* Bytes of the caller's, valid during the call; UTF-8 where it is text. */
typedef struct { const uint8_t *at; size_t len; } thalweg_text;

/* Where a function writes a text or a state to, in as many pieces as it likes: s.write(s.to, at, len). */
typedef struct { void *to; void (*write)(void *to, const uint8_t *at, size_t len); } thalweg_sink;

typedef struct {
    uint64_t seed, initial_window, max_window, initial_threshold, line_rate, base_rtt_ps, time_quantum_ps;
    uint32_t flow, class_, mss, header, switches, reserved;
} thalweg_start;

typedef struct { uint64_t at_ps, tx_bytes, queue, rate; } thalweg_hop;

/* What the network wrote into a packet: hops is null without telemetry; mark is 1 if it met congestion. */
typedef struct { const thalweg_hop *hops; size_t len; uint32_t path, mark; } thalweg_feedback;

typedef struct {
    uint64_t now_ps, rtt_ps, acked, sacked, in_flight, acked_to, sent_to, marked, braked;
    uint64_t delivered, departures_ps, arrivals_ps, sent_ps, total, lost; /* with THALWEG_DELIVERY */
    thalweg_feedback feedback;
    uint32_t flags, reserved;
} thalweg_ack;

typedef struct { uint64_t now_ps, in_flight, acked_to, sent_to; } thalweg_loss;

/* window; pace or THALWEG_NONE; wake_ps, never in the past, or THALWEG_NONE. */
typedef struct { uint64_t window, pace, wake_ps; } thalweg_permit;

typedef void (*thalweg_add)(void *to, thalweg_text name, thalweg_text unit, thalweg_text doc, double value,
                            uint32_t present);

typedef struct {
    uint32_t version, size, wants, reserved; /* THALWEG_VERSION, sizeof(thalweg_table) */
    thalweg_text name;
    thalweg_text params; /* names as a list in JSON; empty: make alone decides */
    void *(*make)(const thalweg_start *start, thalweg_text params, thalweg_sink error); /* params: JSON, or empty */
    void *(*load)(thalweg_text saved, thalweg_sink error);
    void (*save)(const void *state, thalweg_sink out);
    void *(*copy)(const void *state);
    void (*free)(void *state);
    void (*permit)(const void *state, thalweg_permit *permit); /* read after each callback */
    uint32_t (*on_ack)(void *state, const thalweg_ack *ack, thalweg_sink error);
    uint32_t (*on_loss)(void *state, const thalweg_loss *loss, thalweg_sink error);
    uint32_t (*on_timeout)(void *state, const thalweg_loss *loss, thalweg_sink error);
    /* Those from here on may be null. */
    uint32_t (*on_tick)(void *state, uint64_t now_ps, thalweg_sink error);
    uint32_t (*on_sent)(void *state, uint64_t now_ps, uint64_t bytes, uint64_t in_flight, thalweg_sink error);
    uint32_t (*on_open)(void *state, uint64_t now_ps, uint64_t rtt_ps, const thalweg_feedback *it, thalweg_sink error);
    uint32_t (*on_notification)(void *state, uint64_t now_ps, thalweg_sink error);
    uint32_t (*on_restart)(void *state, uint64_t now_ps, uint64_t idle_ps, thalweg_sink error);
    uint32_t (*restart_from)(void *state, uint64_t now_ps, uint64_t window, uint32_t keeps, thalweg_sink error);
    uint64_t (*threshold)(const void *state);
    void (*report)(const void *state, void *to, thalweg_add add);
    /* What went wrong on this thread in a function that returns no number; called after each of them. 0: nothing did. */
    uint32_t (*failed)(thalweg_sink error);
} thalweg_table;

const thalweg_table *thalweg_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
