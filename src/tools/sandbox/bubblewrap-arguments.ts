// The sandbox on Linux, as arguments for bubblewrap.
//
// 1. Later mounts cover earlier ones: the system, empty folders, tools of the home folder, writable folders, protected files in
//    them, hidden files.
// 2. Only the writable folders, `/tmp` and `/dev/shm` can be written to; the size of the last two is limited.
// 3. Process 1 is the command's own shell: no program from outside runs inside, whose file could be reached through `/proc`.
// 4. Everything that is mounted in a writable folder exists: bubblewrap would create a missing mount point there.
import type { SandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { kindOf } from './file-identity.ts'
import type { HostView } from './host-view.ts'
import type { ProtectedFiles } from './protected-files.ts'

export interface BubblewrapOptions {
  readonly writable: readonly string[]
  readonly cwd: string
  readonly policy: SandboxPolicy
  readonly view: HostView
  readonly files: readonly Pick<ProtectedFiles, 'pinned' | 'readOnly' | 'hidden'>[]
  /** The descriptor of the seccomp filter. Without one, bubblewrap itself prevents further user namespaces. */
  readonly filterDescriptor: number | undefined
  /** A program that is visible inside, wherever it is. */
  readonly node: string
  readonly gitSettings: number | undefined
}

export const insideHome = '/tmp/home'

export function bubblewrapArguments(options: BubblewrapOptions): readonly string[] {
  const { policy, writable, view, files, node, gitSettings } = options
  const shown = [...writable, ...view.readOnly]
  const isVisible = (path: string): boolean =>
    ![...view.emptied, '/tmp', '/dev'].some((folder) => isInside(folder, path)) || shown.some((folder) => isInside(folder, path))
  return [
    ...namespaces(options),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['--perms', '1777', '--size', String(Math.floor(policy.memory / 8)), '--tmpfs', '/dev/shm'],
    ...['--perms', '1777', '--size', String(Math.floor(policy.memory / 2)), '--tmpfs', '/tmp', '--dir', insideHome],
    ...(gitSettings === undefined ? [] : ['--file', String(gitSettings), `${insideHome}/.gitconfig`]),
    ...view.emptied.flatMap((folder) => ['--tmpfs', folder]),
    ...view.readOnly.flatMap(readOnly),
    ...(isVisible(node) ? [] : readOnly(node)),
    ...[...writable, ...files.flatMap(({ pinned }) => pinned)].flatMap((path) => ['--bind', path, path]),
    ...files.flatMap((each) => each.readOnly).flatMap(readOnly),
    ...[...view.hidden.filter(isVisible), ...files.flatMap(({ hidden }) => hidden)].flatMap(hide),
    ...[...view.emptied, '/dev'].flatMap((folder) => ['--remount-ro', folder]),
    ...['--chdir', options.cwd, '--'],
  ]
}

function namespaces({ filterDescriptor }: BubblewrapOptions): readonly string[] {
  return [
    ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'sandbox'],
    ...['--cap-drop', 'ALL'],
    ...(filterDescriptor === undefined ? ['--disable-userns'] : ['--seccomp', String(filterDescriptor)]),
  ]
}

const readOnly = (path: string): readonly string[] => ['--ro-bind', path, path]

function hide(path: string): readonly string[] {
  return kindOf(path) === 'folder' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
}
