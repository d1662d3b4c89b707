/* thalweg.examples.aimd in C: cc -shared -fPIC -I crates/plugin -o libaimd.so crates/plugin/examples/aimd.c */

#include "thalweg_plugin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double mss, window, threshold; } aimd;

static void *make(const thalweg_start *start, thalweg_text params, thalweg_sink error) {
    aimd *c = malloc(sizeof *c);
    (void)params, (void)error;
    *c = (aimd){start->mss, (double)start->initial_window, INFINITY};
    return c;
}

static void *load(thalweg_text saved, thalweg_sink error) {
    if (saved.len != sizeof(aimd)) {
        const char *why = "its saved state has another size";
        error.write(error.to, (const uint8_t *)why, strlen(why));
        return NULL;
    }
    return memcpy(malloc(sizeof(aimd)), saved.at, sizeof(aimd));
}

static void save(const void *state, thalweg_sink out) { out.write(out.to, state, sizeof(aimd)); }

static void *copy(const void *state) { return memcpy(malloc(sizeof(aimd)), state, sizeof(aimd)); }

static void permit(const void *state, thalweg_permit *permit) {
    *permit = (thalweg_permit){(uint64_t)((const aimd *)state)->window, THALWEG_NONE, THALWEG_NONE};
}

static uint32_t on_ack(void *state, const thalweg_ack *ack, thalweg_sink error) {
    aimd *c = state;
    (void)error;
    if (!(ack->flags & THALWEG_IN_RECOVERY))
        c->window += c->window < c->threshold ? (double)ack->acked : c->mss * (double)ack->acked / c->window;
    return 0;
}

static uint32_t on_loss(void *state, const thalweg_loss *loss, thalweg_sink error) {
    aimd *c = state;
    (void)loss, (void)error;
    c->threshold = c->window = fmax(c->window * 0.5, 2 * c->mss);
    return 0;
}

static uint32_t on_timeout(void *state, const thalweg_loss *loss, thalweg_sink error) {
    aimd *c = state;
    on_loss(state, loss, error);
    c->window = c->mss;
    return 0;
}

#define TEXT(words) {(const uint8_t *)(words), sizeof(words) - 1}

const thalweg_table *thalweg_plugin(void) {
    static const thalweg_table table = {
        .version = THALWEG_VERSION, .size = sizeof(thalweg_table),
        .name = TEXT("c-aimd"), .params = TEXT("[]"),
        .make = make, .load = load, .save = save, .copy = copy, .free = free,
        .permit = permit, .on_ack = on_ack, .on_loss = on_loss, .on_timeout = on_timeout,
    };
    return &table;
}
