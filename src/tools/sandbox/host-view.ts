/*
 * What of the host a command sees: the whole system read-only, except what is listed here.
 */
import { accessSync, constants, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { homeSecrets, secretNames } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import { leadsAround } from './leads-around.ts'

/** Replaced by empty folders: what belongs to persons, to running services, and scratch space. */
const emptied = ['/home', '/root', '/run', '/var/run', '/var/tmp', '/var/mail']
/** Also where there is nothing in it: ours is mounted there. */
const doorFolder = '/run'
/** Likewise, where we are root and may read what others may not. */
const emptiedForRoot = ['/var/spool', '/var/log']

/** Readable for root only, which we may be; some of it for members of a group. */
const systemSecrets = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
  '/etc/ssl/private',
  '/etc/krb5.keytab',
  '/etc/docker',
  '/etc/kubernetes',
  '/etc/rancher',
  '/etc/wireguard',
  '/etc/NetworkManager',
  '/etc/ai-agent',
  '/var/lib/docker',
  '/var/lib/kubelet',
  '/var/backups',
]

/** Programs that live in a home folder, and what was downloaded for them: to be read, never written. */
const homeTools = [
  '.nvm',
  '.fnm',
  '.volta/bin',
  '.volta/tools',
  '.local/bin',
  '.local/lib',
  '.local/share/fnm',
  '.local/share/mise',
  '.local/share/pnpm',
  '.local/share/uv',
  '.asdf',
  '.pyenv',
  '.rbenv',
  '.rustup',
  '.cargo/bin',
  '.cargo/registry',
  '.bun/bin',
  '.deno/bin',
  '.sdkman/candidates',
  '.npm/_cacache',
  '.m2/repository',
  'go/bin',
  'go/pkg',
]

/** Parts of the kernel that root could write to, whatever it was stripped of: the files are its own. */
const kernelSettings = ['acpi', 'driver', 'dynamic_debug', 'fs', 'scsi', 'sys'].map((name) => `/proc/${name}`)
/** And what nobody has to see of it, or press. */
const kernelSecrets = ['/proc/sysrq-trigger', '/sys/kernel/debug', '/sys/kernel/tracing']

export interface HostView {
  readonly emptied: readonly string[]
  readonly hidden: readonly string[]
  /** Hidden, too; each may be gone the next moment. */
  readonly special: readonly string[]
  readonly readOnly: readonly string[]
}

export interface Viewer {
  /** What commands may write to, the workspace first. Without links. */
  readonly places: readonly string[]
  /** Without links. */
  readonly home: string
  readonly path: string
  /** Told by whoever knows more, such as the data folder. */
  readonly hidden: readonly string[]
  /** Sockets and pipes that somebody outside may be listening on. */
  readonly special: readonly string[]
}

/** Looked at anew for each command: a secret may have come since. */
export function hostView({ places, home, path, hidden, special }: Viewer): HostView {
  const [root = '/'] = places
  const isRoot = process.getuid?.() === 0
  const holdsHome = home === '/' || isInside(root, home)
  const empty = [...(holdsHome ? [] : [home]), ...emptied, ...(isRoot ? emptiedForRoot : [])]
    .flatMap(asItIs)
    .filter((folder) => isFolder(folder) && !isInside(root, folder) && (folder === doorFolder || !isEmpty(folder)))
  const onPath = path
    .split(':')
    .filter(isAbsolute)
    .flatMap((folder) => leadsAround(places, folder))
    .filter((folder) => isInside(home, folder) && folder !== home)
  const tools = holdsHome ? [] : [...homeTools.map((name) => join(home, name)), ...onPath]
  const secrets = [
    ...systemSecrets,
    ...(isRoot ? kernelSecrets : []),
    ...foldersAbove(root).flatMap((folder) => secretNames.map((name) => join(folder, name))),
    ...hidden,
  ]
  // Also those that are empty: somebody believes what is put into them.
  const ofHome = homeSecrets.map((name) => join(home, name))
  return {
    emptied: outermost(empty),
    hidden: [...new Set([...secrets.flatMap(realPath), ...(holdsHome ? ofHome.flatMap(readablePath) : [])])],
    special,
    readOnly: [...outermost(tools.filter(isThere)), ...(isRoot ? kernelSettings.filter(isThere) : [])],
  }
}

/** Folders within others are emptied with them. */
function outermost(folders: readonly string[]): readonly string[] {
  const distinct = [...new Set(folders)]
  return distinct.filter((folder) => !distinct.some((other) => other !== folder && isInside(other, folder)))
}

/** Nothing is mounted on a link: where homes are on another disk, it is that disk's folder that is emptied. */
function asItIs(path: string): readonly string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}

function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function realPath(path: string): readonly string[] {
  return readablePath(path).filter((real) => !isEmpty(real))
}

/** What we can not read, a command can not read either, and nothing can be bound over it. */
function readablePath(path: string): readonly string[] {
  // Most are not there, and finding that out by an error takes longer than anything else here.
  if (!lstatSync(path, { throwIfNoEntry: false })) return []
  try {
    const real = realpathSync(path)
    accessSync(real, constants.R_OK)
    return [real]
  } catch {
    return []
  }
}

/** One that can not be looked into is not. */
function isEmpty(path: string): boolean {
  try {
    return isFolder(path) && readdirSync(path).length === 0
  } catch {
    return false
  }
}

const isThere = (path: string): boolean => realPath(path)[0] === path
