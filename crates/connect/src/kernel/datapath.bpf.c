// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// The kernel's half of a controller in user space: every rate sample goes out by a ring buffer, the newest decision
// comes back in an array that both sides map. What the kernel does for its own algorithms and leaves out for those that
// have `cong_control` is done here: proportional rate reduction (RFC 6937) and a default pace. Where user space does not
// answer in time, the window is AIMD's (RFC 5681). Where the controller wants marks, the receiving half of a connection
// echoes each of them, and no other (RFC 8257).
//
// Fields of the kernel are found by name when this is loaded (CO-RE): only those that are used are declared.

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define KERNEL __attribute__((preserve_access_index))

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
} KERNEL;

struct inet_sock {
	struct sock sk;
} KERNEL;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[13];
} KERNEL;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 rcv_nxt;
	__u32 rcv_wup;
	__u8 ecn_flags;
	__u64 first_tx_mstamp;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 write_seq;
	__u32 snd_cwnd;
	__u32 snd_cwnd_cnt;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 prr_out;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 lost;
	__u32 total_retrans;
	__u32 srtt_us;
	__u32 mss_cache;
	__u8 is_cwnd_limited : 1;
} KERNEL;

struct rate_sample {
	__u32 prior_delivered;
	__s32 delivered;
	__u32 snd_interval_us;
	__u32 rcv_interval_us;
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	bool is_app_limited;
	bool is_retrans;
} KERNEL;

enum tcp_ca_event {
	CA_EVENT_TX_START = 0,
	CA_EVENT_ECN_NO_CE = 4,
	CA_EVENT_ECN_IS_CE = 5,
};

// As libbpf finds it: members by name. The name comes first, where the loader writes it.
struct tcp_congestion_ops {
	char name[16];
	__u32 flags;
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

char _license[] SEC("license") = "Dual MIT/GPL";

// ---- What both sides know (kernel/records.rs reads the same) --------------------------------------------------------

enum kind {
	OPEN,
	ACK,
	LOSS,
	TIMEOUT,
	RESTART,
	CLOSE,
};

struct record {
	__u64 time_ns;
	__u64 newest_sent_us;
	__u64 pacing_bytes;
	__u32 connection;
	__u32 kind;
	__u32 una;
	__u32 next;
	__u32 written;
	__u32 cwnd;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 lost;
	__u32 resent;
	__u32 srtt_us;
	__u32 mss;
	__u32 prior_delivered;
	__s32 sample_delivered;
	__u32 departures_us;
	__u32 arrivals_us;
	__s32 rtt_us;
	__u32 flags;
};

#define IN_ACK 1
#define APP_LIMITED 2
#define RETRANSMITTED 4
#define CWND_LIMITED 8
#define RECOVERY 16
#define FALLBACK 32
#define ECN 64

#define SLOTS 4096

struct decision {
	// When the newest record that it knows of was made.
	__u64 time_ns;
	// Payload bytes per second; 0: as the window.
	__u64 pace;
	__u32 cwnd;
	__u32 ssthresh;
	__u32 connection;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct decision);
} decisions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

// Connections so far, of this load.
__u32 connections = 0;

// Set by the loader.
const volatile struct {
	char name[16];
	__u32 wants_ecn;
} settings = {};

// ---- A connection's own state ----------------------------------------------------------------------------------------

#define CA_OPEN 0
#define CA_RECOVERY 3
#define CA_LOSS 4

struct own {
	// The oldest record that no decision has answered.
	__u64 asked_ns;
	__u32 connection;
	__u32 prr_delivered;
	// The window of AIMD, while user space does not answer.
	__u32 window;
	// RCV.NXT before the newest segment that came: what a delayed ACK would say.
	__u32 received_to;
	// DCTCP.CE: that segment was marked.
	__u8 marked;
	__u8 state;
	__u8 in_ack;
	__u8 fallback;
	__u8 opened;
};

static __always_inline struct tcp_sock *tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct own *own(struct sock *sk)
{
	return (struct own *)tcp(sk)->inet_conn.icsk_ca_priv;
}

static __always_inline __u32 in_flight(const struct tcp_sock *tp)
{
	__u32 left = tp->sacked_out + tp->lost_out, all = tp->packets_out + tp->retrans_out;
	return all > left ? all - left : 0;
}

// What was agreed upon (RFC 3168, or AccECN), and that ACKs say ECE: TCP_ECN_* of net/tcp.h.
#define ECN_CLASSIC 1
#define ECN_DEMAND_CWR 4
#define ECN_ACCURATE 16

// ---- Out -------------------------------------------------------------------------------------------------------------

static __always_inline struct record *begin(struct sock *sk, __u64 now, enum kind kind)
{
	const struct tcp_sock *tp = tcp(sk);
	const struct own *o = own(sk);
	struct record *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		__u32 zero = 0;
		__u64 *count = bpf_map_lookup_elem(&dropped, &zero);
		if (count)
			__sync_fetch_and_add(count, 1);
		return NULL;
	}
	r->time_ns = now;
	r->newest_sent_us = tp->first_tx_mstamp;
	r->pacing_bytes = sk->sk_pacing_rate;
	r->connection = o->connection;
	r->kind = kind;
	r->una = tp->snd_una;
	r->next = tp->snd_nxt;
	r->written = tp->write_seq;
	r->cwnd = tp->snd_cwnd;
	r->packets_out = tp->packets_out;
	r->sacked_out = tp->sacked_out;
	r->lost_out = tp->lost_out;
	r->retrans_out = tp->retrans_out;
	r->delivered = tp->delivered;
	r->delivered_ce = tp->delivered_ce;
	r->lost = tp->lost;
	r->resent = tp->total_retrans;
	r->srtt_us = tp->srtt_us >> 3;
	r->mss = tp->mss_cache;
	r->prior_delivered = 0;
	r->sample_delivered = -1;
	r->departures_us = 0;
	r->arrivals_us = 0;
	r->rtt_us = -1;
	r->flags = (o->in_ack ? IN_ACK : 0) | (o->state == CA_RECOVERY || o->state == CA_LOSS ? RECOVERY : 0) |
		   (o->fallback ? FALLBACK : 0) | (tp->ecn_flags & (ECN_CLASSIC | ECN_ACCURATE) ? ECN : 0);
	return r;
}

static __always_inline void report(struct sock *sk, enum kind kind)
{
	struct record *r = begin(sk, bpf_ktime_get_ns(), kind);
	if (r)
		bpf_ringbuf_submit(r, 0);
}

#define FLAG_RETRANS_DATA_ACKED 0x08

// Karn: where what was sent twice is acknowledged the kernel takes the round trip from time stamps, in whole ms. On a
// path of 40.2 ms that is a sample of 40, which a controller by delay would take for the empty path.
static __always_inline bool is_stamped(const struct rate_sample *rs, int flag)
{
	return flag & FLAG_RETRANS_DATA_ACKED && (__u64)rs->rtt_us % 1000 == 0;
}

static __always_inline void report_ack(struct sock *sk, __u64 now, int flag, const struct rate_sample *rs)
{
	struct record *r = begin(sk, now, ACK);
	if (!r)
		return;
	r->prior_delivered = rs->prior_delivered;
	r->sample_delivered = rs->delivered;
	r->departures_us = rs->snd_interval_us;
	r->arrivals_us = rs->rcv_interval_us;
	r->rtt_us = is_stamped(rs, flag) ? -1 : rs->rtt_us;
	if (rs->is_app_limited)
		r->flags |= APP_LIMITED;
	if (rs->is_retrans)
		r->flags |= RETRANSMITTED;
	if (BPF_CORE_READ_BITFIELD(tcp(sk), is_cwnd_limited))
		r->flags |= CWND_LIMITED;
	bpf_ringbuf_submit(r, 0);
}

// ---- In --------------------------------------------------------------------------------------------------------------

#define MS 1000000ull
// User space is given up if it has not answered within so many round trips, and so long.
#define PATIENCE_RTTS 8
#define PATIENCE_NS (100 * MS)

static __always_inline struct decision *decided(struct sock *sk)
{
	__u32 slot = own(sk)->connection % SLOTS;
	struct decision *d = bpf_map_lookup_elem(&decisions, &slot);
	if (!d || d->connection != own(sk)->connection || !d->cwnd)
		return NULL;
	return d;
}

// The decision to follow, if user space answers.
static __always_inline struct decision *followed(struct sock *sk, __u64 now)
{
	struct own *o = own(sk);
	struct decision *d = decided(sk);
	__u64 patience = (__u64)(tcp(sk)->srtt_us >> 3) * 1000 * PATIENCE_RTTS;
	if (patience < PATIENCE_NS)
		patience = PATIENCE_NS;
	if (d && d->time_ns >= o->asked_ns) {
		o->asked_ns = now;
		o->fallback = 0;
		return d;
	}
	if (now - o->asked_ns <= patience && !o->fallback)
		return d;
	if (!o->fallback) {
		o->fallback = 1;
		o->window = tcp(sk)->snd_cwnd;
		tcp(sk)->snd_ssthresh = o->window;
	}
	return NULL;
}

#define FLAG_SND_UNA_ADVANCED 0x400

// RFC 6937, as the kernel's tcp_cwnd_reduction.
static __always_inline __u32 reduced(struct sock *sk, __u32 window, int flag, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp(sk);
	struct own *o = own(sk);
	__s64 left = in_flight(tp), delta = (__s64)window - left, count;
	__u64 before = tp->prior_cwnd ? tp->prior_cwnd : 1;

	o->prr_delivered += rs->acked_sacked;
	if (delta < 0) {
		__u64 share = (__u64)window * o->prr_delivered + before - 1;
		count = (__s64)(share / before) - tp->prr_out;
	} else {
		count = (__s64)o->prr_delivered - tp->prr_out;
		if (count < rs->acked_sacked)
			count = rs->acked_sacked;
		if (flag & FLAG_SND_UNA_ADVANCED && !rs->losses)
			count++;
		if (count > delta)
			count = delta;
	}
	if (count < 0)
		count = 0;
	if (!count && !tp->prr_out)
		count = 1;
	return left + count;
}

// RFC 5681: the window while user space does not answer.
static __always_inline void aimd(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *o = own(sk);
	if (o->state == CA_RECOVERY || !BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return;
	if (o->window < tp->snd_ssthresh) {
		o->window += rs->acked_sacked;
		return;
	}
	tp->snd_cwnd_cnt += rs->acked_sacked;
	if (tp->snd_cwnd_cnt >= o->window) {
		tp->snd_cwnd_cnt = 0;
		o->window++;
	}
}

#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
#define USEC_PER_SEC 1000000ull

// tcp_update_pacing_rate: twice the window per round trip in slow start, a fifth more than it afterwards.
static __always_inline void pace(struct sock *sk, __u32 window, __u32 ssthresh, __u64 rate)
{
	const struct tcp_sock *tp = tcp(sk);
	__u64 srtt_us = tp->srtt_us >> 3;
	if (!rate) {
		if (!srtt_us)
			return;
		rate = (__u64)window * tp->mss_cache * USEC_PER_SEC / srtt_us;
		rate = window < ssthresh / 2 ? rate * 2 : rate * 6 / 5;
	}
	if (rate > sk->sk_max_pacing_rate)
		rate = sk->sk_max_pacing_rate;
	sk->sk_pacing_rate = rate;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

// ---- What a receiver says ----------------------------------------------------------------------------------------------

#define ACK_NOW 16

static __always_inline void echo(struct sock *sk, bool marked)
{
	struct tcp_sock *tp = tcp(sk);
	tp->ecn_flags = marked ? tp->ecn_flags | ECN_DEMAND_CWR : tp->ecn_flags & ~ECN_DEMAND_CWR;
}

// RFC 8257 §3.2, the state machine of its Figure 1: an ACK speaks of segments of one kind. So where the kind changes,
// what was received before is acknowledged first, if that was put off, and the new segment at once. (The figure puts
// this one off; Linux' own DCTCP does not, since it was found that the sender waits for it.) Linux' own looks for the timer of
// delayed ACKs, and so misses those that wait until the application lets go of the socket (tcp_backlog_ack_defer): here
// the last number that was acknowledged says what is left, RCV.WUP.
static __always_inline void on_segment(struct sock *sk, bool marked)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *o = own(sk);
	// AccECN counts by itself.
	if (!(tp->ecn_flags & ECN_CLASSIC))
		return;
	if (o->marked != marked) {
		if ((__s32)(o->received_to - tp->rcv_wup) > 0) {
			echo(sk, o->marked);
			bpf_tcp_send_ack(tp, o->received_to);
		}
		tp->inet_conn.icsk_ack.pending |= ACK_NOW;
	}
	o->received_to = tp->rcv_nxt;
	o->marked = marked;
	echo(sk, marked);
}

// ---- The algorithm -----------------------------------------------------------------------------------------------------

SEC("struct_ops")
void BPF_PROG(thalweg_init, struct sock *sk)
{
	struct own *o = own(sk);
	o->connection = __sync_fetch_and_add(&connections, 1);
	o->asked_ns = bpf_ktime_get_ns();
	o->prr_delivered = 0;
	o->window = tcp(sk)->snd_cwnd;
	o->state = CA_OPEN;
	o->in_ack = 0;
	o->fallback = 0;
	o->received_to = tcp(sk)->rcv_nxt;
	o->marked = 0;
	report(sk, OPEN);
}

SEC("struct_ops")
void BPF_PROG(thalweg_release, struct sock *sk)
{
	report(sk, CLOSE);
}

SEC("struct_ops")
void BPF_PROG(thalweg_in_ack, struct sock *sk, __u32 flags)
{
	own(sk)->in_ack = 1;
}

SEC("struct_ops")
void BPF_PROG(thalweg_set_state, struct sock *sk, __u8 state)
{
	struct own *o = own(sk);
	__u8 before = o->state;
	o->state = state;
	if (state == CA_RECOVERY && before != CA_RECOVERY) {
		o->prr_delivered = 0;
		report(sk, LOSS);
	} else if (state == CA_LOSS) {
		o->window = 1;
		report(sk, TIMEOUT);
	}
}

SEC("struct_ops")
void BPF_PROG(thalweg_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	switch (event) {
	case CA_EVENT_TX_START:
		report(sk, RESTART);
		break;
	case CA_EVENT_ECN_IS_CE:
	case CA_EVENT_ECN_NO_CE:
		// They come only to algorithms that ask for ECN.
		on_segment(sk, event == CA_EVENT_ECN_IS_CE);
		break;
	}
}

SEC("struct_ops")
__u32 BPF_PROG(thalweg_ssthresh, struct sock *sk)
{
	struct own *o = own(sk);
	if (!o->fallback)
		return tcp(sk)->snd_ssthresh;
	o->window = o->window > 4 ? o->window / 2 : 2;
	return o->window;
}

SEC("struct_ops")
__u32 BPF_PROG(thalweg_undo_cwnd, struct sock *sk)
{
	return tcp(sk)->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(thalweg_cong_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *o = own(sk);
	__u64 now = bpf_ktime_get_ns();
	struct decision *d = followed(sk, now);
	__u32 window;
	__u64 rate = 0;

	report_ack(sk, now, flag, rs);
	o->in_ack = 0;
	if (d) {
		window = d->cwnd;
		rate = d->pace;
		tp->snd_ssthresh = d->ssthresh;
	} else if (o->fallback) {
		aimd(sk, rs);
		window = o->window;
	} else {
		return; // the first answer is on its way
	}
	pace(sk, window, tp->snd_ssthresh, rate);
	if (o->state == CA_RECOVERY)
		window = reduced(sk, window, flag, rs);
	tp->snd_cwnd = window ? window : 1;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops thalweg = {
	.name = "thalweg",
	.ssthresh = (void *)thalweg_ssthresh,
	.cong_control = (void *)thalweg_cong_control,
	.set_state = (void *)thalweg_set_state,
	.cwnd_event = (void *)thalweg_cwnd_event,
	.in_ack_event = (void *)thalweg_in_ack,
	.undo_cwnd = (void *)thalweg_undo_cwnd,
	.init = (void *)thalweg_init,
	.release = (void *)thalweg_release,
};

// ---- Which sockets ------------------------------------------------------------------------------------------------------

#define IPPROTO_TCP 6
#define TCP_CONGESTION 13

// Those of a group of processes: the algorithm is chosen as a connection is established, when its round trip is known.
SEC("sockops")
int thalweg_sockops(struct bpf_sock_ops *ops)
{
	char name[16];
	switch (ops->op) {
	case BPF_SOCK_OPS_NEEDS_ECN:
		ops->reply = settings.wants_ecn;
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		for (int i = 0; i < 16; i++)
			name[i] = settings.name[i];
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name));
		break;
	}
	return 1;
}
