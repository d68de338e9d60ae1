/*
 * Whether the walls stand where they were meant to. Between our look and theirs a command that runs already may put a link in
 * the place of a folder: what was to be bound over itself is then bound somewhere else, or something else in its place. The
 * kernel's own table tells what is mounted where, whatever the paths lead to by now.
 */
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from './mount-points.ts'
import { type Mount, mountsOf, sourceOf } from './mount-table.ts'

export interface WallPlan {
  /** What has to be bound over itself, and which each is. Without links. */
  readonly bound: ReadonlyMap<string, string>
  /** What has to be covered. */
  readonly covered: readonly string[]
}

/** The first thing that is not as it was planned, in the world of a process. */
export function misplaced(first: number, { bound, covered }: WallPlan): string | undefined {
  const [ours, theirs] = [mountsOf('self'), mountsOf(first)]
  const isBound = ([path, identity]: readonly [string, string]): boolean => {
    const source = sourceOf(path, ours)
    const isIt = (mounted: Omit<Mount, 'point'> | undefined): boolean =>
      mounted?.device === source?.device && mounted?.root === source?.root
    if (!theirs.some((mount) => mount.point === path && isIt(mount))) return false
    // What is hidden, or in what is hidden, is not seen again.
    return !isIt(sourceOf(path, theirs)) || identityOf(join(`/proc/${first}/root`, path)) === identity
  }
  const isCovered = (path: string): boolean => theirs.some(({ point }) => point === path)
  return [...bound].find((each) => !isBound(each))?.[0] ?? covered.find((path) => !isCovered(path)) ?? heldOpen(first, bound)
}

/** A folder of ours that it holds open is a way around all walls. */
function heldOpen(first: number, bound: WallPlan['bound']): string | undefined {
  const descriptors = `/proc/${first}/fd`
  return readdirSync(descriptors)
    .map((name) => targetOf(join(descriptors, name)))
    .find((path) => bound.has(path))
}

/** A descriptor may be closed meanwhile: then it is not held. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch {
    return ''
  }
}
