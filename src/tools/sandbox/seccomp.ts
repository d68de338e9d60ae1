// A seccomp filter: system calls that no command needs are refused by the kernel.
//
// 1. Calls that are not named are allowed. Namespaces isolate the command; the filter removes ways to attack them from inside.
// 2. Calls of another architecture (32 bits, x32) do not exist: their numbers mean other calls.
// 3. A filter cannot follow pointers. `clone3` and `openat2` pass their flags by pointer, so they do not exist: libraries fall
//    back to `clone` and `openat`.
// 4. Unix sockets cannot be opened: a path may lead to a service outside. `socketpair` works, but not for datagrams: such a
//    socket can send to any path.
// 5. No file gets the setuid or setgid bit: the file stays in the workspace, where programs outside could run it.

type Architecture = 'x64' | 'arm64'

const architectures = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const

type Numbers = readonly [x64: number, arm64: number | undefined]

const refused: { readonly [call: string]: Numbers } = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  move_mount: [429, 429],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  reboot: [169, 142],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  unshare: [272, 97],
  setns: [308, 268],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  vhangup: [153, 58],
  syslog: [103, 116],
}

/** They fail as on an older kernel, and programs use another call. */
const absent: typeof refused = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  openat2: [437, 437],
  // The memory limit does not see this memory.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
}

const numbers = { ioctl: [16, 29], clone: [56, 220], socket: [41, 198], socketpair: [53, 199], shmget: [29, 194] } as const

/** Calls that set the mode of a file: which argument is the mode, and for those that open files, which one has the flags. */
const modeCalls: readonly { readonly numbers: Numbers; readonly mode: number; readonly flags?: number }[] = [
  { numbers: [90, undefined], mode: 1 }, // chmod
  { numbers: [91, 52], mode: 1 }, // fchmod
  { numbers: [268, 53], mode: 2 }, // fchmodat
  { numbers: [452, 452], mode: 2 }, // fchmodat2
  { numbers: [85, undefined], mode: 1 }, // creat
  { numbers: [133, undefined], mode: 1 }, // mknod
  { numbers: [259, 33], mode: 2 }, // mknodat
  { numbers: [2, undefined], mode: 2, flags: 1 }, // open
  { numbers: [257, 56], mode: 3, flags: 2 }, // openat
]
const setuidOrSetgid = 0o6000
/** O_CREAT and O_TMPFILE: without them `open` ignores its mode, which may be anything. */
const createsFile = 0o20000100

const errno = { EPERM: 1, EINVAL: 22, ENOSYS: 38, EAFNOSUPPORT: 97 } as const
/** AF_INET, AF_INET6, AF_NETLINK. Others are not isolated by a network namespace, or reach services by path. */
const families = [2, 10, 16]
/** AF_UNIX. */
const unixFamily = 1
/** SOCK_STREAM and SOCK_SEQPACKET: once connected, they stay so. */
const connectedTypes = [1, 5]
/** The rest of a socket type is flags. */
const typeMask = 0xf
/** Any new namespace. */
const cloneFlags = 0x7e02_0080
/** TIOCSTI and TIOCLINUX: input for the terminal. */
const terminalRequests = [0x5412, 0x541c]
/** The memory limit does not see shared memory without a process: there is room for locks and small tables only. */
const sharedMemory = 64 * 1024

// Classic BPF: codes of instructions.
const load = 0x20
const ifEqual = 0x15
const ifGreater = 0x25
const ifAtLeast = 0x35
const ifAny = 0x45
const and = 0x54
const answer = 0x06
// Offsets in `struct seccomp_data`.
const at = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index } as const

type Instruction = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number]

const allow: Instruction = [answer, 0x7fff_0000]
const fail = (code: number): Instruction => [answer, 0x0005_0000 | code]

/** The filter, as bubblewrap reads it; nothing for an architecture whose numbers are not listed here. */
export function seccompFilter(architecture: string): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined
  return assemble(instructions(architecture))
}

function instructions(architecture: Architecture): readonly Instruction[] {
  const { audit, column } = architectures[architecture]
  const number = (name: keyof typeof numbers): number => numbers[name][column]
  const all = (calls: typeof refused, code: number): Instruction[] =>
    Object.values(calls).flatMap((each) => {
      const call = each[column]
      return call === undefined ? [] : [[ifEqual, call, 0, 1], fail(code)]
    })
  return [
    [load, at.machine],
    [ifEqual, audit, 1, 0],
    fail(errno.ENOSYS),
    [load, at.number],
    ...(architecture === 'x64' ? ([[ifAtLeast, 0x4000_0000, 0, 1], fail(errno.ENOSYS)] as const) : []),
    ...all(refused, errno.EPERM),
    ...all(absent, errno.ENOSYS),
    ...modeCalls.flatMap(({ numbers: { [column]: call }, mode, flags }) => {
      if (call === undefined) return []
      const isSet: Instruction[] = [[load, at.argument(mode)], [ifAny, setuidOrSetgid, 0, 1], fail(errno.EPERM)]
      const creates: Instruction[] =
        flags === undefined
          ? []
          : [
              [load, at.argument(flags)],
              [ifAny, createsFile, 0, isSet.length],
            ]
      return when(call, [...creates, ...isSet])
    }),
    ...when(number('clone'), [[load, at.argument(0)], [ifAny, cloneFlags, 0, 1], fail(errno.EPERM)]),
    ...when(number('ioctl'), [
      [load, at.argument(1)],
      ...terminalRequests.flatMap((request): Instruction[] => [[ifEqual, request, 0, 1], fail(errno.EPERM)]),
    ]),
    ...when(number('socket'), [
      [load, at.argument(0)],
      ...families.flatMap((family): Instruction[] => [[ifEqual, family, 0, 1], allow]),
      fail(errno.EAFNOSUPPORT),
    ]),
    ...when(number('socketpair'), [
      [load, at.argument(0)],
      [ifEqual, unixFamily, 1, 0],
      fail(errno.EAFNOSUPPORT),
      [load, at.argument(1)],
      [and, typeMask],
      ...connectedTypes.flatMap((type): Instruction[] => [[ifEqual, type, 0, 1], allow]),
      fail(errno.EAFNOSUPPORT),
    ]),
    ...when(number('shmget'), [
      [load, at.argument(1)],
      [ifGreater, sharedMemory, 0, 1],
      fail(errno.EINVAL),
      [load, at.argument(1) + 4],
      [ifEqual, 0, 1, 0],
      fail(errno.EINVAL),
    ]),
    allow,
  ]
}

/** Runs for one call only, and decides about it. */
function when(call: number, body: readonly Instruction[]): readonly Instruction[] {
  return [[ifEqual, call, 0, body.length + 1], ...body, allow]
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, value, ifTrue = 0, ifFalse = 0], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return bytes
}
