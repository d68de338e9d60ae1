/*
 * The calls to the kernel that no command of ours needs, refused by a filter in the kernel's own small language.
 *
 * 1. What is not named passes: the walls are the namespaces; this takes away ways to work on them from inside.
 * 2. Calls of another machine word (32 bits, x32) do not exist: their numbers mean something else.
 * 3. `clone3` hides its flags behind a pointer that a filter can not follow, so it does not exist either; libraries then use `clone`.
 */

/** The machines that a filter can be written for. */
export type FilteredMachine = 'x64' | 'arm64'

const machines = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const

// Numbers on x64 and arm64.
const refused: { readonly [call: string]: readonly [number, number | undefined] } = {
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

/** Programs take these for an older kernel, and do without. */
const absent: typeof refused = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Memory that no process shows as its own.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
}

const numbers = { ioctl: [16, 29], clone: [56, 220], socket: [41, 198], shmget: [29, 194] } as const

const errno = { EPERM: 1, EINVAL: 22, ENOSYS: 38, EAFNOSUPPORT: 97 } as const
/** Local sockets, the two of the internet, and asking the kernel about interfaces. Others, such as those to a virtual machine's host, know no namespaces. */
const families = [1, 2, 10, 16]
/** Any new namespace. */
const cloneFlags = 0x7e02_0080
/** Typing into a terminal, and selecting on a console. */
const terminalRequests = [0x5412, 0x541c]
/** Shared memory outlives whoever is counted for it, so there is only room for locks and small tables. */
const sharedMemory = 64 * 1024

// The classic filter machine: codes of its instructions.
const load = 0x20
const ifEqual = 0x15
const ifGreater = 0x25
const ifAtLeast = 0x35
const ifAny = 0x45
const answer = 0x06
// Where the facts about a call are.
const at = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index } as const

type Instruction = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number]

const allow: Instruction = [answer, 0x7fff_0000]
const fail = (code: number): Instruction => [answer, 0x0005_0000 | code]

/** The filter, as bubblewrap takes it; nothing for a machine that we have no numbers for. */
export function seccompFilter(machine: string): Buffer | undefined {
  if (machine !== 'x64' && machine !== 'arm64') return undefined
  return assemble(instructions(machine))
}

function instructions(machine: FilteredMachine): readonly Instruction[] {
  const { audit, column } = machines[machine]
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
    ...(machine === 'x64' ? ([[ifAtLeast, 0x4000_0000, 0, 1], fail(errno.ENOSYS)] as const) : []),
    ...all(refused, errno.EPERM),
    ...all(absent, errno.ENOSYS),
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

/** What is looked at for one call only; it ends there. */
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
