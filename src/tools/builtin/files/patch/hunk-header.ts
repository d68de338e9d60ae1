export interface HunkHeader {
  /** Where the old lines begin, counted from 0. */
  readonly position: number
  readonly oldCount: number
  readonly newCount: number
}

const pattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** `@@ -12,3 +12,4 @@ function` */
export function hunkPosition(line: string): HunkHeader | undefined {
  const found = pattern.exec(line)
  if (!found) return undefined
  const [, start, oldCount = '1', , newCount = '1'] = found
  // An empty range names the line before it.
  return { position: Math.max(0, Number(start) - (Number(oldCount) === 0 ? 0 : 1)), oldCount: Number(oldCount), newCount: Number(newCount) }
}
