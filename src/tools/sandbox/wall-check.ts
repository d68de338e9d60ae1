/*
 * Whether the walls stand where they were meant to. Between our look and theirs a command that runs already may put a link in
 * the place of a folder: what was to be bound over itself is then bound somewhere else.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from './mount-points.ts'

/** How it is told. */
export const notInPlace = 'the walls are not where they were meant to be'

export interface WallPlan {
  /** What has to be bound over itself, and which each is. Without links. */
  readonly bound: ReadonlyMap<string, string>
  /** What has to be covered. */
  readonly covered: readonly string[]
}

/** The first thing that is not as it was planned, in the world of a process. */
export function misplaced(first: number, { bound, covered }: WallPlan): string | undefined {
  const points = mountPointsOf(first)
  const isBound = ([path, identity]: readonly [string, string]): boolean =>
    points.has(path) && identityOf(join(`/proc/${first}/root`, path)) === identity
  return [...bound].find((each) => !isBound(each))?.[0] ?? covered.find((path) => !points.has(path))
}

function mountPointsOf(first: number): ReadonlySet<string> {
  const lines = readFileSync(`/proc/${first}/mountinfo`, 'utf8').split('\n')
  return new Set(lines.flatMap((line) => line.split(' ')[4] ?? []).map(unescaped))
}

/** Blanks, tabs, line breaks and backslashes are written as octal numbers. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
