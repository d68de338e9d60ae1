// Which files of the system a sandboxed command sees: all of them, read-only, except what is listed here.
import { accessSync, constants, readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { homeSecrets, secretNames } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import { realOrSame, trustedPath } from '../trusted-path.ts'
import { kindOf } from './file-identity.ts'

const words = (text: string): readonly string[] => text.split(' ')

/** Replaced by empty folders: data of persons and running services, and temporary files. */
const emptied = ['/home', '/root', '/run', '/var/run', '/var/tmp', '/var/mail']
/** Likewise for root, who can read what others cannot. */
const emptiedForRoot = ['/var/spool', '/var/log']

/** Folders of the system in `/`. A program that is not trusted sees no others: people put projects and data there. */
const system = new Set(words('bin dev etc lib lib32 lib64 libx32 nix proc run sbin snap sys tmp usr Library System private'))

/** Readable for root, some of it for members of a group. */
const systemSecrets = [
  ...words('/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh /etc/ssl/private'),
  ...words('/etc/krb5.keytab /etc/docker /etc/kubernetes /etc/rancher /etc/wireguard /etc/NetworkManager /etc/ai-agent'),
  ...words('/var/lib/docker /var/lib/kubelet /var/backups'),
]

/** Programs in a home folder, and packages for them: read-only. */
const homeTools = [
  ...words('.nvm .fnm .volta/bin .volta/tools .local/bin .local/lib .local/share/fnm .local/share/mise .local/share/pnpm'),
  ...words('.local/share/uv .asdf .pyenv .rbenv .rustup .cargo/bin .cargo/registry .bun/bin .deno/bin .sdkman/candidates'),
  ...words('.npm/_cacache .m2/repository go/bin go/pkg'),
]

/** Parts of the kernel that root could write to even without capabilities, because it owns the files. */
const kernelSettings = ['acpi', 'driver', 'dynamic_debug', 'fs', 'scsi', 'sys'].map((name) => `/proc/${name}`)
const kernelSecrets = ['/proc/sysrq-trigger', '/sys/kernel/debug', '/sys/kernel/tracing']

export interface HostView {
  readonly emptied: readonly string[]
  readonly hidden: readonly string[]
  /** Visible again in emptied folders. */
  readonly readOnly: readonly string[]
}

interface HostViewOptions {
  /** Folders that commands can write to, the workspace first. Without links. */
  readonly writable: readonly string[]
  /** Without links. */
  readonly home: string
  readonly path: string
  /** Further files to hide, such as the data folder. */
  readonly hidden: readonly string[]
  /** Set for a program that is not trusted: the files that it can read. Without links. */
  readonly onlyReadable?: readonly string[] | undefined
}

/** Computed for each command: files with secrets may have been created since. */
export function hostView({ writable, home, path, hidden, onlyReadable }: HostViewOptions): HostView {
  const [root = '/'] = writable
  const isWritable = (path: string): boolean => writable.some((folder) => isInside(folder, path))
  const isRoot = process.getuid?.() === 0
  const holdsHome = home === '/' || isWritable(home)
  const empty = [...(holdsHome ? [] : [home]), ...emptied, ...(isRoot ? emptiedForRoot : []), ...(onlyReadable ? otherFolders() : [])]
    // Nothing can be mounted on a link, such as a home folder on another disk.
    .map(realOrSame)
    .filter((folder) => isFolder(folder) && !isWritable(folder) && !isEmpty(folder))
  const onPath = path
    .split(':')
    .filter(isAbsolute)
    .flatMap((folder) => trustedPath(writable, folder))
    .filter((folder) => isInside(home, folder) && folder !== home)
  const tools = holdsHome || onlyReadable ? [] : [...homeTools.map((name) => join(home, name)), ...onPath]
  const secrets = [
    ...systemSecrets,
    ...(isRoot ? kernelSecrets : []),
    ...foldersAbove(root).flatMap((folder) => secretNames.map((name) => join(folder, name))),
    ...hidden,
  ]
  // Also empty folders: programs trust what is put into them.
  const ofHome = homeSecrets.map((name) => join(home, name))
  return {
    emptied: outermost(empty),
    hidden: [...new Set([...secrets.flatMap(realPath), ...(holdsHome ? ofHome.flatMap(readablePath) : [])])],
    readOnly: [...outermost([...tools, ...(onlyReadable ?? [])].filter(isThere)), ...(isRoot ? kernelSettings.filter(isThere) : [])],
  }
}

const otherFolders = (): readonly string[] =>
  readdirSync('/')
    .filter((name) => !system.has(name))
    .map((name) => `/${name}`)

/** Without folders inside of others. */
function outermost(folders: readonly string[]): readonly string[] {
  const distinct = [...new Set(folders)]
  return distinct.filter((folder) => !distinct.some((other) => other !== folder && isInside(other, folder)))
}

function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}

const isFolder = (path: string): boolean => kindOf(path) === 'folder'

function realPath(path: string): readonly string[] {
  return readablePath(path).filter((real) => !isEmpty(real))
}

/** A command cannot read what this process cannot read, and nothing can be mounted over it. */
function readablePath(path: string): readonly string[] {
  // Most do not exist, and an error costs more than anything else here.
  if (kindOf(path) === 'absent') return []
  try {
    const real = realpathSync(path)
    accessSync(real, constants.R_OK)
    return [real]
  } catch {
    return []
  }
}

/** A folder that cannot be read is not. */
function isEmpty(path: string): boolean {
  try {
    return isFolder(path) && readdirSync(path).length === 0
  } catch {
    return false
  }
}

const isThere = (path: string): boolean => realPath(path)[0] === path
