/*
 * The walls on Linux, as arguments for bubblewrap.
 *
 * 1. Later mounts cover earlier ones: the system, then what is emptied, then what may be seen again, then what may be
 *    written to, then what is guarded there, then what is hidden.
 * 2. Nothing but the workspace, the named folders, `/tmp` and `/dev/shm` takes a byte; the last two are bounded.
 * 3. The command is process 1 of its own world: with it everything ends, and no program from outside runs inside, whose
 *    file could be reached through `/proc`.
 */
import { lstatSync } from 'node:fs'
import type { SandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import type { HostView } from './host-view.ts'
import type { Guard } from './workspace-guard.ts'

export interface Walls {
  /** What may be written to. */
  readonly places: readonly string[]
  /** Folders that bubblewrap gets open, by their descriptors. */
  readonly opened: ReadonlyMap<string, number>
  readonly cwd: string
  readonly policy: SandboxPolicy
  readonly view: HostView
  readonly guards: readonly Guard[]
  /** The descriptors that bubblewrap reads the filter from, where there is one, and writes the first process to. */
  readonly filterDescriptor?: number
  readonly infoDescriptor: number
  /** No further user namespaces, where bubblewrap can do that. */
  readonly disableNamespaces: boolean
  /** A program that is seen inside, wherever it is. */
  readonly node: string
  /** The descriptor of the settings of Git in the home folder inside, where there are any. */
  readonly gitSettings?: number
  /** A socket of ours that is seen inside. */
  readonly door?: string
}

export const insideHome = '/tmp/home'
export const insideDoor = '/run/troupe-door'

export function bubblewrapArguments(walls: Walls): readonly string[] {
  const { policy, places, opened, view, guards, node, door } = walls
  const emptied = [...view.emptied]
  const shown = [...places, ...view.readOnly]
  const isVisible = (path: string): boolean =>
    ![...emptied, '/tmp', '/dev'].some((folder) => isInside(folder, path)) || shown.some((folder) => isInside(folder, path))
  return [
    ...namespaces(walls),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['--perms', '1777', '--size', String(Math.floor(policy.memory / 8)), '--tmpfs', '/dev/shm'],
    ...['--perms', '1777', '--size', String(Math.floor(policy.memory / 2)), '--tmpfs', '/tmp', '--dir', insideHome],
    ...(walls.gitSettings === undefined ? [] : ['--file', String(walls.gitSettings), `${insideHome}/.gitconfig`]),
    ...emptied.flatMap((folder) => ['--tmpfs', folder]),
    ...view.readOnly.flatMap(readOnly),
    ...(isVisible(node) ? [] : readOnly(node)),
    ...(door === undefined ? [] : ['--ro-bind', door, insideDoor]),
    ...[...places, ...guards.flatMap(({ fixed }) => fixed)].flatMap((path) => writable(path, opened.get(path))),
    ...guards.flatMap((guard) => guard.readOnly).flatMap(readOnly),
    ...[...[...view.hidden, ...view.special].filter(isVisible), ...guards.flatMap(({ hidden }) => hidden)].flatMap(hide),
    ...[...emptied, '/dev'].flatMap((folder) => ['--remount-ro', folder]),
    ...['--chdir', walls.cwd, '--'],
  ]
}

function namespaces({ filterDescriptor, infoDescriptor, disableNamespaces }: Walls): readonly string[] {
  return [
    ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'sandbox'],
    ...['--cap-drop', 'ALL'],
    ...(disableNamespaces ? ['--disable-userns'] : []),
    ...(filterDescriptor === undefined ? [] : ['--seccomp', String(filterDescriptor)]),
    ...['--info-fd', String(infoDescriptor)],
  ]
}

/** A path may lead somewhere else by the time that it is followed, and what can be written to has to be what was meant. */
const writable = (path: string, descriptor: number | undefined): readonly string[] =>
  descriptor === undefined ? ['--bind', path, path] : ['--bind-fd', String(descriptor), path]

const readOnly = (path: string): readonly string[] => ['--ro-bind', path, path]

function hide(path: string): readonly string[] {
  return isFolder(path) ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
