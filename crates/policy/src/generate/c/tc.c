
#if NOTIFIES
/* Who was notified of what: read from this ring. */
struct notice {
	u32 part, number;
	struct packet packet;
};
struct {
	int (*type)[27]; /* BPF_MAP_TYPE_RINGBUF */
	int (*max_entries)[1 << 16];
} notices SEC(".maps");
#endif

within void read_packet(struct __sk_buff *skb, struct packet *p)
{
	p->size = skb->wire_len ? skb->wire_len : skb->len;
	if (!p->size)
		p->size = 1;
	p->value = skb->mark;
	p->arrival = READS_ARRIVAL ? bpf_ktime_get_ns() : 0;
	p->flow = READS_FLOW ? bpf_get_hash_recalc(skb) : 0;
	p->tos = 0;
	p->queue = 0;
	if (READS_TOS) {
		u8 head[2] = {};
		u32 protocol = skb->protocol;
		if (!bpf_skb_load_bytes_relative(skb, 0, head, sizeof(head), 1 /* BPF_HDR_START_NET */)) {
			if (protocol == __builtin_bswap16(0x0800))
				p->tos = head[1];
			else if (protocol == __builtin_bswap16(0x86dd))
				p->tos = (u8)(head[0] << 4 | head[1] >> 4);
		}
	}
}

within void begin(struct view *v, u64 seed, s64 at)
{
	v->begun = 1;
	v->adm_state = FIRST_ADM_STATE;
	v->sched_state = FIRST_SCHED_STATE;
	v->port_sched_state = FIRST_PORT_SCHED_STATE;
	v->since = at;
	stream(&v->draws, purpose(seed, "policy queue", 12), 0);
}

SEC("tc") int admit(struct __sk_buff *skb)
{
	u32 first = 0;
	struct arriving x = { .here = 1 };
	struct packet *p = &x.packet;
	u64 seed = SEED;
	struct view *v = bpf_map_lookup_elem(&states, &first);
	if (!v)
		return 2; /* TC_ACT_SHOT */
	read_packet(skb, p);
	bpf_spin_lock(&v->lock);
	if (!v->begun)
		begin(v, seed, p->arrival);
	p->arrival = READS_ARRIVAL && (u64)p->arrival > v->since ? (p->arrival - (s64)v->since) * 1000 : 0;
	on_congestion(&x, v, congestion_case(0, p, v));
	if (x.here)
		on_admission(&x, v, admission_case(0, p, v));
	v->marked += x.marked;
	v->dropped += !x.here;
	bpf_spin_unlock(&v->lock);
#if NOTIFIES
	struct notice notice = { .packet = x.packet };
	for (u32 nth = 0; nth < NOTIFIES; nth++)
		if (nth < x.notices)
			bpf_ringbuf_output(&notices, &notice, sizeof(notice), 0);
#endif
	if (x.marked)
		bpf_skb_ecn_set_ce(skb);
	return x.here ? -1 /* TC_ACT_UNSPEC: what stands behind it goes on */ : 2;
}

char _license[] SEC("license") = "GPL";
