/* One that was empty comes back with at least the least state of those that were not. */
within void catch_up(u32 own)
{
	s64 least = 0;
	int found = 0;
	if (now.queues[own & 15].length > 0)
		return;
	for (u32 queue = 0; queue < QUEUES; queue++)
		if (now.queues[queue].length > 0 && (!found || now.queues[queue].sched_state < least)) {
			least = now.queues[queue].sched_state;
			found = 1;
		}
	if (found && now.queues[own & 15].sched_state < least)
		now.queues[own & 15].sched_state = least;
}

within void read_packet(struct sk_buff *skb, struct packet *p)
{
	p->size = ((struct qdisc_skb_cb *)skb->cb)->pkt_len;
	if (!p->size)
		p->size = 1;
	p->value = skb->mark;
	p->arrival = READS_ARRIVAL ? (bpf_ktime_get_ns() - now.since) * 1000 : 0;
	p->flow = READS_FLOW ? bpf_skb_get_hash(skb) : 0;
	p->tos = 0;
	if (READS_TOS) {
		struct bpf_dynptr data;
		u8 head[2] = {};
		u32 at = (u16)(skb->network_header - skb->mac_header);
		u16 protocol = skb->protocol;
		if (!bpf_dynptr_from_skb(skb, 0, &data) && !bpf_dynptr_read(head, sizeof(head), &data, at, 0)) {
			if (protocol == __builtin_bswap16(0x0800))
				p->tos = head[1];
			else if (protocol == __builtin_bswap16(0x86dd))
				p->tos = (u8)(head[0] << 4 | head[1] >> 4);
		}
	}
	/* The priority is the number of the queue; what names none joins the last. */
	p->queue = skb->priority < QUEUES ? skb->priority : QUEUES - 1;
	p->queue = selected(p) & 15;
}

/* What follows once a packet has joined: the steps of the engines, by their numbers. */
apart int admit(struct arriving *x, int matched)
{
	u32 queue = x->packet.queue;
	int buffer = buffer_of(queue);
	struct bpf_iter_num turns;
	struct view v;
	/* 3. */
	on_congestion(x, matched);
	/* 4. */
	bpf_iter_num_new(&turns, 0, MOST_TURNS);
	while (bpf_iter_num_next(&turns))
		if (curr_size(queue) <= queue_size(queue) || !drop_victim(x, queue))
			break;
	bpf_iter_num_destroy(&turns);
	/* 5. */
	if (buffer >= 0 && x->here) {
		look(queue, &v);
		v.curr_size -= counts_packets(queue) ? 1 : x->packet.size;
		v.length -= 1;
		v.buffer_curr_size -= buffer_counts_packets(buffer) ? 1 : x->packet.size;
		on_buffer_congestion(x, buffer, buffer_congestion_case(buffer, &x->packet, &v));
		bpf_iter_num_new(&turns, 0, MOST_TURNS);
		while (bpf_iter_num_next(&turns))
			if (now.buffers[buffer & 15].curr_size <= buffer_size(buffer) || !drop_of_buffer(x, buffer))
				break;
		bpf_iter_num_destroy(&turns);
	}
	/* 6. */
	if (!x->here)
		return 0;
	look(queue, &v);
	on_admission(x, admission_case(queue, &x->packet, &v));
	if (buffer >= 0) {
		look(queue, &v);
		on_buffer_admission(x, buffer, buffer_admission_case(buffer, &x->packet, &v));
	}
	return 1;
}

SEC("struct_ops/enqueue") int enqueue(u64 *context)
{
	struct sk_buff *skb = (void *)context[0];
	struct arriving x = { .sch = (void *)context[1], .to_free = (void *)context[2], .here = 1 };
	struct view v;
	struct waiting *p = bpf_obj_new_impl(__builtin_btf_type_id(*(struct waiting *)0, 0), NULL);
	if (!p) {
		faults.memory++;
		goto dropped;
	}
	read_packet(skb, &x.packet);
	u32 queue = x.packet.queue;
	struct backlog *of = backlog_of(queue);
	if (!of) {
		bpf_obj_drop_impl(p, NULL);
		goto dropped;
	}
	if (CATCHES_UP)
		catch_up(queue);
	/* 1. */
	look(queue, &v);
	int matched = congestion_case(queue, &x.packet, &v);
	/* 2. */
	x.seq = now.seq++;
	p->seq = x.seq;
	p->packet = x.packet;
	skb = bpf_kptr_xchg(&p->skb, skb);
	if (skb)
		bpf_qdisc_skb_drop(skb, x.to_free);
	join(of, p);
	count(x.sch, queue, 1, x.packet.size);
	return admit(&x, matched) ? 0 /* NET_XMIT_SUCCESS */ : 1 /* NET_XMIT_DROP */;
dropped:
	bpf_qdisc_skb_drop(skb, x.to_free);
	x.sch->qstats.drops++;
	return 1;
}

/* The first queue that holds any, in the port's order. */
within int first_queue(void)
{
	struct candidate one, first;
	int found = -1;
	for (u32 nth = 0; nth < QUEUES; nth++) {
		u32 queue = port_turns[nth & 15];
		if (!stand(queue, &one))
			continue;
		if (found < 0 || port_order(&one, &first)) {
			found = queue;
			first = one;
		}
	}
	return found;
}

/* What checks a policy against traces holds packets back by this. */
#ifndef MAY_SEND
#define MAY_SEND 1
#endif

SEC("struct_ops/dequeue") struct sk_buff *dequeue(u64 *context)
{
	struct arriving x = { .sch = (void *)context[0], .here = 1 };
	struct view v;
	if (!(MAY_SEND))
		return NULL;
	int queue = first_queue();
	if (queue < 0)
		return NULL;
	struct backlog *of = backlog_of(queue);
	if (!of)
		return NULL;
	struct waiting *p = take(of, 0);
	if (!p)
		return NULL;
	x.packet = p->packet;
	struct sk_buff *skb = bpf_kptr_xchg(&p->skb, NULL);
	bpf_obj_drop_impl(p, NULL);
	count(x.sch, queue, -1, -x.packet.size);
	look(queue, &v);
	on_scheduling(&x, scheduling_case(&x.packet, &v));
	if (skb)
		bpf_qdisc_bstats_update(x.sch, skb);
	return skb;
}

within void forget(void)
{
	u64 seed = SEED;
	now.seq = 0;
	now.since = bpf_ktime_get_ns();
	u64 queues = purpose(seed, "policy queue", 12), buffers = purpose(seed, "policy buffer", 13);
	for (u32 nth = 0; nth < 16; nth++) {
		stream(&now.queues[nth].draws, queues, nth);
		stream(&now.buffers[nth].draws, buffers, nth);
	}
	stream(&now.select, purpose(seed, "policy select", 13), 0);
	for (u32 nth = 0; nth < 16; nth++) {
		now.queues[nth].length = now.queues[nth].bytes = now.buffers[nth].curr_size = 0;
		now.queues[nth].adm_state = first_adm_state(nth);
		now.queues[nth].sched_state = first_sched_state(nth);
		now.buffers[nth].adm_state = first_buffer_adm_state(nth);
	}
	now.port_sched_state = FIRST_PORT_SCHED_STATE;
}

/* Its states are of one device: another is refused until this one is gone. */
SEC("struct_ops/init") int init(u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	if (now.owner)
		return -16; /* EBUSY */
	now.owner = context[0];
	sch->limit = 1u << 31;
	forget();
	return 0;
}

SEC("struct_ops/reset") void reset(u64 *context)
{
	struct bpf_iter_num turns;
	if (now.owner != context[0])
		return;
	for (u32 queue = 0; queue < QUEUES; queue++) {
		struct backlog *of = backlog_of(queue);
		if (!of)
			return;
		bpf_iter_num_new(&turns, 0, MOST_TURNS);
		while (bpf_iter_num_next(&turns)) {
			struct waiting *p = take(of, 0);
			if (!p)
				break;
			bpf_obj_drop_impl(p, NULL);
		}
		bpf_iter_num_destroy(&turns);
	}
	forget();
}

SEC("struct_ops/destroy") void destroy(u64 *context)
{
	if (now.owner == context[0])
		now.owner = 0;
}
