// What the supervisor remembers between starts: a JSON file, because it must work when the store does not.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shortHash } from '../../util/hash.ts'
import { isRecord } from '../../util/is-record.ts'

/** An extension that is not loaded because it took the kernel down. Changed content is tried again. */
export interface Quarantined {
  readonly id: string
  readonly hash: string
  readonly reason: string
  readonly stage: string
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface SupervisorState {
  readonly quarantined: readonly Quarantined[]
  /** Id → hash of the extensions with which the kernel ran well. */
  readonly lastGood: { readonly [id: string]: string }
}

/** Where the supervisor of a project keeps its files. Folders of projects share one data folder. */
export const supervisorFolder = (dataFolder: string, workspace: string): string => join(dataFolder, 'kernel', shortHash(workspace))

const fileOf = (folder: string): string => join(folder, 'supervisor.json')

/** A missing or damaged file is empty: the worst case is that an extension is tried again. */
export function readSupervisorState(folder: string): SupervisorState {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(fileOf(folder), 'utf8'))
  } catch {}
  const { quarantined, lastGood } = isRecord(value) ? value : {}
  return {
    quarantined: Array.isArray(quarantined) ? quarantined.filter(isQuarantined) : [],
    lastGood: isRecord(lastGood) ? Object.fromEntries(Object.entries(lastGood).filter(isHash)) : {},
  }
}

/** Atomic: a reader sees the old or the new file. */
export function writeSupervisorState(folder: string, state: SupervisorState): void {
  const file = fileOf(folder)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, `${JSON.stringify(state, undefined, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/** Lets an extension be loaded again at the next start. Returns whether it was quarantined. */
export function clearQuarantine(folder: string, id: string): boolean {
  const state = readSupervisorState(folder)
  const quarantined = state.quarantined.filter((entry) => entry.id !== id)
  if (quarantined.length === state.quarantined.length) return false
  writeSupervisorState(folder, { ...state, quarantined })
  return true
}

/** The message to the person. The same id again is ignored by the router. */
export const quarantineNotice = ({ id, reason, stage, at }: Quarantined): { readonly id: string; readonly text: string } => ({
  id: `quarantine:${id}:${at}`,
  text: `Extension ${id} was stopped because ${reason} (stage: ${stage}). Fix it, then run \`troupe extensions enable ${id}\`.`,
})

const isHash = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string'

const isQuarantined = (value: unknown): value is Quarantined =>
  isRecord(value) && ['id', 'hash', 'reason', 'stage'].every((key) => typeof value[key] === 'string') && typeof value.at === 'number'
