import { constants } from 'node:os'
import type { Attempt } from './attempts.ts'

const isArm = process.arch === 'arm64'
const then = ' && echo OUT'

/** A call to the kernel: out unless the filter refuses it, which shows in the error. Numbers are those of x64 and arm64. */
function call(name: string, numbers: readonly [number, number], { args, refusal = 'EPERM' }: Call): Attempt {
  const number = isArm ? numbers[1] : numbers[0]
  return {
    name,
    needs: ['perl'],
    command: ({ victim }) =>
      `perl -e 'my $t = "evil"; my $b = pack("qq", 1, 0); $r = syscall(${number}, ${args.replace('VICTIM', String(victim))}); print $r >= 0 ? "OUT\\n" : "error " . ($! + 0) . "\\n"'`,
    says: `error ${constants.errno[refusal]}`,
  }
}

interface Call {
  readonly args: string
  readonly refusal?: keyof typeof constants.errno
}

/** Opens a kind of socket. */
const family = (name: string, number: number, type = 3): Attempt => ({
  name,
  needs: ['perl'],
  command: () => `perl -e 'print socket(S, ${number}, ${type}, 0) ? "OUT\\n" : "error " . ($! + 0) . "\\n"'`,
  ...(number === 2 ? {} : { says: `error ${constants.errno.EAFNOSUPPORT}` }),
})

/** Only opened: written to, some of these would really be felt. */
const opened = (name: string, file: string): Attempt => ({
  name,
  command: () => `[ -e ${file} ] && (exec 3<>${file})${then}; [ -e ${file} ] && (exec 3>${file})${then}`,
})

export const kernelAttempts: readonly Attempt[] = [
  call('trace a process outside', [101, 117], { args: '16, VICTIM, 0, 0' }),
  call('read memory of a process outside', [310, 270], { args: 'VICTIM, 0, 0, 0, 0, 0' }),
  call('use a key ring', [250, 219], { args: '0, -3, 1' }),
  call('load a program into the kernel', [321, 280], { args: '0, 0, 0' }),
  call('handle page faults', [323, 282], { args: '0' }),
  call('use rings', [425, 425], { args: '8, 0', refusal: 'ENOSYS' }),
  call('open by handle', [304, 265], { args: '-100, 0, 0' }),
  call('make a user namespace', [272, 97], { args: '0x10000000' }),
  call('make a user namespace by clone', [56, 220], { args: '0x10000011, 0, 0, 0, 0' }),
  call('keep memory that nobody counts', [319, 279], { args: '$t, 0', refusal: 'ENOSYS' }),
  call('keep shared memory that nobody counts', [29, 194], { args: '0, 1048576, 0x1ff', refusal: 'EINVAL' }),
  call('open a file by a call that hides its mode', [437, 437], { args: '-100, $t, $b, 24', refusal: 'ENOSYS' }),
  call('set the host name', [170, 161], { args: '$t, 4' }),
  call('set the clock', [227, 112], { args: '0, $b' }),
  call('measure others', [298, 241], { args: '0, -1, 0, -1, 0' }),
  ...(isArm ? [] : [call('call by numbers of another machine word', [0x4000_0000 + 39, 0], { args: '0', refusal: 'ENOSYS' })]),
  family('open a raw socket', 2),
  family('open a packet socket', 17),
  family('open a Unix socket', 1, 1),
  call('open a pair of sockets that can send to any path', [53, 199], { args: '1, 2, 0, $b', refusal: 'EAFNOSUPPORT' }),
  family('call the host of a virtual machine', 40, 1),
  family('use the cipher socket', 38, 5),
  opened('change where cores go', '/proc/sys/kernel/core_pattern'),
  opened('change which program loads modules', '/proc/sys/kernel/modprobe'),
  opened('press the magic key', '/proc/sysrq-trigger'),
  opened('read the memory of the machine', '/dev/mem'),
  opened('read the memory of the kernel', '/proc/kcore'),
  {
    name: 'have a release agent run',
    command: () =>
      `for f in /sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent; do [ -e "$f" ] && (exec 3>"$f") 2>/dev/null${then}; done; mkdir /sys/fs/cgroup/x /sys/fs/cgroup/memory/x 2>/dev/null${then}`,
  },
  {
    name: 'write to the devices of the system',
    command: () => `touch /sys/x${then}; (exec 3>/sys/power/state)${then}; (exec 3>/sys/kernel/uevent_helper)${then}`,
  },
  { name: 'make a device', needs: ['mknod'], command: () => `mknod disk b 8 0${then}; mknod memory c 1 1${then}` },
  { name: 'mount something', needs: ['mount'], command: () => `mount -t tmpfs x /mnt${then}; mount --bind / /mnt${then}` },
  {
    name: 'unmount a mask',
    needs: ['umount'],
    command: ({ data }) => `umount ${data}${then}; umount /tmp${then}; umount -l .git/hooks${then}`,
  },
  { name: 'unshare', needs: ['unshare'], command: () => `unshare -Ur true${then}; unshare -m true${then}` },
  { name: 'enter namespaces of others', needs: ['nsenter'], command: () => `nsenter -t 1 -m true${then}; nsenter -t 1 -n true${then}` },
  { name: 'change the root', needs: ['chroot'], command: () => `chroot / true${then}` },
  {
    name: 'find a terminal to type into',
    needs: ['perl'],
    command: () => `(exec 3<>/dev/tty)${then}; perl -e 'open(T, "+<", "/dev/ptmx"); $c = "x"; ioctl(T, 0x5412, $c) and print "OUT\\n"'`,
  },
  { name: 'set the date', command: () => `date -s '2001-01-01'${then}`, isOut: () => new Date().getFullYear() < 2010 },
]
