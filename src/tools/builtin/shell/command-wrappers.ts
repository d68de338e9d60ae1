// Programs and shell built-ins that run another command, with their options.
import { unquoted } from './shell-words.ts'

export interface Wrapper {
  /** Options without a value. */
  readonly flags?: string
  readonly longFlags?: string
  /** Options with a value. */
  readonly valued?: string
  readonly longValued?: string
  /** Options that run no command. */
  readonly looks?: string
  /** Words between options and command. */
  readonly operands?: number
  /** `NAME=value` may come before the command. */
  readonly hasAssignments?: true
  /** Without a command it runs something else. */
  readonly needsCommand?: true
}

const limits = 'core data nice fsize sigpending memlock rss nofile msgqueue rtprio stack cpu nproc as locks rttime'
const packageRunner: Wrapper = { flags: 'y', longFlags: 'yes no', needsCommand: true }
const otherMachine: Wrapper = { flags: 'BFILRSTXZv', needsCommand: true }

/** By program, or by program and first argument. */
const wrappers: { readonly [name: string]: Wrapper } = {
  command: { flags: 'p', looks: 'vV' },
  builtin: {},
  exec: { flags: 'cl', valued: 'a' },
  nohup: {},
  setsid: { flags: 'cfw', longFlags: 'ctty fork wait' },
  nice: { flags: '0123456789-', valued: 'n', longValued: 'adjustment' },
  ionice: { flags: 't', longFlags: 'ignore', valued: 'cn', longValued: 'class classdata' },
  timeout: { flags: 'fpv', longFlags: 'foreground preserve-status verbose', valued: 'ks', longValued: 'kill-after signal', operands: 1 },
  stdbuf: { valued: 'eio', longValued: 'error input output' },
  env: {
    ...{ flags: 'i0v', longFlags: 'ignore-environment null debug', valued: 'uC', longValued: 'unset chdir' },
    hasAssignments: true,
  },
  sudo: { flags: 'AbEHnPS', valued: 'CDghpRrTtUu', hasAssignments: true, needsCommand: true },
  doas: { flags: 'n', valued: 'Cu', needsCommand: true },
  time: { flags: 'apqv', valued: 'fo' },
  taskset: { flags: 'ac', longFlags: 'all-tasks cpu-list', operands: 1 },
  chroot: { operands: 1, needsCommand: true },
  ...{ busybox: {}, toybox: {}, coreutils: {} },
  choom: { valued: 'np', longValued: 'adjust pid' },
  prlimit: { valued: 'po', longValued: 'pid output', longFlags: limits },
  setpriv: {
    longFlags: 'no-new-privs nnp clear-groups keep-groups init-groups reset-env',
    longValued: 'ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups securebits pdeathsig',
    needsCommand: true,
  },
  unshare: {
    ...{ flags: 'muinpUCTfrc', valued: 'SGRw', longValued: 'setuid setgid root wd propagation setgroups', needsCommand: true },
    longFlags: 'mount uts ipc net pid user cgroup time fork map-root-user map-current-user mount-proc kill-child keep-caps',
  },
  ...{ linux32: otherMachine, linux64: otherMachine, i386: otherMachine, x86_64: otherMachine },
  fakeroot: { flags: 'u', longFlags: 'unknown-is-real', valued: 'sib', needsCommand: true },
  'dbus-run-session': { longValued: 'config-file', needsCommand: true },
  pkexec: { longFlags: 'keep-cwd disable-internal-agent', longValued: 'user', needsCommand: true },
  ...{ ccache: { hasAssignments: true }, sccache: {}, torsocks: {}, gamemoderun: {} },
  caffeinate: { flags: 'disu', valued: 'tw' },
  ...{ eatmydata: {}, catchsegv: {}, chronic: { flags: 'ev' }, ifne: { flags: 'n' }, 'cross-env': { hasAssignments: true } },
  ...{ npx: packageRunner, pnpx: packageRunner, bunx: packageRunner, uvx: packageRunner },
  ...{ 'npm exec': packageRunner, 'npm x': packageRunner, 'pnpm exec': packageRunner, 'pnpm dlx': packageRunner },
  ...{ 'yarn exec': packageRunner, 'yarn dlx': packageRunner, 'uv run': packageRunner, 'bundle exec': packageRunner },
  ...{ 'poetry run': packageRunner, 'pipenv run': packageRunner, 'pipx run': packageRunner },
}

export const wrapperOf = (name: string): Wrapper | undefined => (Object.hasOwn(wrappers, name) ? wrappers[name] : undefined)

/** Index after the options; `looks` if an option runs no command; undefined for an unknown option. */
export function endOfOptions(words: readonly string[], known: Wrapper): number | 'looks' | undefined {
  const { looks = '' } = known
  let at = 1
  while (at < words.length) {
    const word = wordAt(words, at)
    if (word === undefined) return undefined
    if (word === '--') return at + 1
    if (!word.startsWith('-')) return at
    if (word.length === 2 && looks.includes(word.slice(1))) return 'looks'
    const taken = wordsTaken(word, known)
    if (taken === undefined) return undefined
    at += taken
  }
  return at
}

/** The word without quotes; undefined for a glob. */
export function wordAt(words: readonly string[], at: number): string | undefined {
  const word = words[at]
  return word === undefined ? undefined : unquoted(word)
}

/** 1, or 2 with a separate value. */
function wordsTaken(option: string, { flags = '', longFlags = '', valued = '', longValued = '' }: Wrapper): number | undefined {
  if (option === '-') return 1
  if (option.startsWith('--')) {
    const [name = '', value] = option.slice(2).split('=', 2)
    if (longFlags.split(' ').includes(name)) return 1
    if (longValued.split(' ').includes(name)) return value === undefined ? 2 : 1
    return undefined
  }
  for (const [index, letter] of [...option].entries()) {
    if (index === 0 || flags.includes(letter)) continue
    if (!valued.includes(letter)) return undefined
    return index === option.length - 1 ? 2 : 1
  }
  return 1
}
