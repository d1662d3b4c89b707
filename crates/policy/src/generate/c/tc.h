struct bpf_spin_lock {
	u32 val;
};
/* What the kernel shows of a packet: fields stand where its interface has them. */
struct __sk_buff {
	u32 len, pkt_type, mark, queue_mapping, protocol, before[31];
	u64 flow_keys, tstamp;
	u32 wire_len;
};

#define HELPER static __attribute__((unused))
HELPER void *(*bpf_map_lookup_elem)(void *, const void *) = (void *)1;
HELPER u64 (*bpf_ktime_get_ns)(void) = (void *)5;
HELPER u32 (*bpf_get_prandom_u32)(void) = (void *)7;
HELPER u32 (*bpf_get_hash_recalc)(struct __sk_buff *) = (void *)34;
HELPER long (*bpf_skb_load_bytes_relative)(const void *, u32, void *, u32, u32) = (void *)68;
HELPER long (*bpf_spin_lock)(struct bpf_spin_lock *) = (void *)93;
HELPER long (*bpf_spin_unlock)(struct bpf_spin_lock *) = (void *)94;
HELPER long (*bpf_skb_ecn_set_ce)(struct __sk_buff *) = (void *)97;
HELPER long (*bpf_ringbuf_output)(void *, void *, u64, u64) = (void *)130;

/* What conditions know of a packet. */
struct packet {
	s64 value, arrival, flow, size, queue, tos;
};

/* What they know of the queue and its port, and what is drawn: of all processors together. */
struct view {
	struct bpf_spin_lock lock;
	u32 begun;
	s64 adm_state, sched_state, port_sched_state;
	u64 since;
	struct draws draws;
	u64 marked, dropped;
};
struct {
	int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
	u32 *key;
	struct view *value;
	int (*max_entries)[1];
} states SEC(".maps");

/* What could not be done: a state beyond 64 bits. */
struct {
	u64 states;
} faults SEC(".bss.faults");

struct arriving {
	struct packet packet;
	int here, marked;
	u32 notices;
};

/* A draw that is the same for all who give this seed; without one it differs each time. */
#ifdef OQ_SEED
#define SEED OQ_SEED
#else
#define SEED ((u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32())
#endif

