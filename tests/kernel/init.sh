#!/bin/busybox sh
# The first process of the machine that `check.py` boots: attaches each policy in turn and plays its trace.
/bin/busybox --install -s /bin
export LD_LIBRARY_PATH=/lib
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t bpf none /sys/fs/bpf
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
insmod /lib/veth.ko
/usr/sbin/ip link add v0 type veth peer name v1
/usr/sbin/ip link set v0 up arp off
/usr/sbin/ip link set v1 up arp off
echo "KERNEL $(uname -r)"
for policy in /policies/*; do
	echo "POLICY $(basename $policy)"
	mkdir /sys/fs/bpf/all
	if /usr/sbin/bpftool struct_ops register $policy/policy.o /sys/fs/bpf/all > /log 2>&1; then
		kind=$(ls /sys/fs/bpf/all | head -n 1)
		if /usr/sbin/tc qdisc replace dev v0 root $kind > /log 2>&1; then
			/usr/sbin/bpftool map pin name .bss.held /sys/fs/bpf/held
			echo "ORDER $(/play $policy/trace /sys/fs/bpf/held)"
			/usr/sbin/tc -s qdisc show dev v0 | busybox sed -n 's/.*dropped \([0-9]*\).*/DROPPED \1/p'
		else
			echo "REFUSED attaching $(busybox tail -n 3 /log)"
		fi
		/usr/sbin/tc qdisc del dev v0 root
		rm -f /sys/fs/bpf/held /sys/fs/bpf/all/*
	else
		echo "REFUSED loading"
		busybox tail -n 30 /log
	fi
	rmdir /sys/fs/bpf/all
done
echo FINISHED
poweroff -f
