// Plays a trace into v0 and prints in which order packets come out of v1: `play TRACE PINNED-MAP`.
// A line of the trace: queue size tos mark credit. Packets carry their number.
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int port(const char *device)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int opened = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), room = 64 << 20;
	at.sll_ifindex = if_nametoindex(device);
	setsockopt(opened, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(opened, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (bind(opened, (struct sockaddr *)&at, sizeof(at)))
		exit(2);
	return opened;
}

int main(int count, char **given)
{
	FILE *trace = fopen(given[1], "r");
	union bpf_attr which = { .pathname = (unsigned long)given[2] };
	int map = syscall(SYS_bpf, BPF_OBJ_GET, &which, sizeof(which)), out = port("v0"), in = port("v1");
	unsigned queue, size, tos, mark, number = 0, key = 0;
	unsigned long long credit;
	static unsigned char frame[65536];
	if (!trace || map < 0)
		return 2;
	while (fscanf(trace, "%u %u %u %u %llu", &queue, &size, &tos, &mark, &credit) == 5) {
		union bpf_attr set = { .map_fd = map, .key = (unsigned long)&key, .value = (unsigned long)&credit };
		memset(frame, 0, size);
		memset(frame, 2, 12);
		frame[12] = 8;
		frame[14] = 0x45;
		frame[15] = tos;
		memcpy(frame + 34, &number, sizeof(number));
		syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &set, sizeof(set));
		setsockopt(out, SOL_SOCKET, SO_PRIORITY, &queue, sizeof(queue));
		setsockopt(out, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
		if (send(out, frame, size, 0) < 0 && 0)
			perror("send");
		number++;
	}
	usleep(300000);
	for (;;) {
		ssize_t got = recv(in, frame, sizeof(frame), MSG_DONTWAIT);
		if (got < 0)
			break;
		if (got >= 38 && frame[12] == 8) {
			memcpy(&number, frame + 34, sizeof(number));
			printf("%u ", number);
		}
	}
	printf("\n");
	return 0;
}
