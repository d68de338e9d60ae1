// What a kernel process leaves for its supervisor: small files in the supervisor's folder, written synchronously, because a process that
// dies can do nothing else. The supervisor removes them before it starts the next one.
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from './supervisor-state.ts'

/** Whose code runs. */
export interface Suspect {
  readonly extension: string
  readonly stage: string
}

/** Why the process is about to end. Without a suspect if it is the fault of no extension. */
export interface Fault extends Partial<Suspect> {
  readonly reason: string
}

export interface LoadedRecord {
  readonly id: string
  readonly hash: string
  readonly isBundled: boolean
}

export interface CrashFiles {
  readonly fault?: Fault
  /** The main thread did not answer, and this is where it was. */
  readonly blocked?: Fault
  /** The code that was entered last and had not returned. */
  readonly active?: Suspect
  readonly loaded: readonly LoadedRecord[]
}

type FileName = 'fault' | 'blocked' | 'loaded' | 'active'
const pathOf = (folder: string, name: FileName): string => join(folder, `${name}.json`)

/** A full disk must not hide the error that is being reported. */
export function writeCrashFile(folder: string, name: Exclude<FileName, 'active'>, content: Fault | readonly LoadedRecord[]): void {
  try {
    writeFileSync(pathOf(folder, name), JSON.stringify(content))
  } catch {}
}

export const removeCrashFile = (folder: string, name: FileName): void => rmSync(pathOf(folder, name), { force: true })

/** Keeps the file open: one write takes about two microseconds. Only the first line is valid. */
export function activeFile(folder: string): (suspect: Suspect | undefined) => void {
  const file = openSync(pathOf(folder, 'active'), 'w')
  return (suspect) => {
    try {
      writeSync(file, suspect ? `${JSON.stringify(suspect)}\n` : '\n', 0)
    } catch {}
  }
}

export function clearCrashFiles(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of ['fault', 'blocked', 'loaded', 'active'] as const) removeCrashFile(folder, name)
}

export function readCrashFiles(folder: string): CrashFiles {
  const [fault, blocked] = [faultOf(read(folder, 'fault')), faultOf(read(folder, 'blocked'))]
  const active = faultOf({ reason: '', ...objectOf(read(folder, 'active')) })
  const loaded = read(folder, 'loaded')
  return {
    ...(fault && { fault }),
    ...(blocked && { blocked }),
    ...(active?.extension !== undefined && { active: { extension: active.extension, stage: active.stage ?? 'unknown' } }),
    loaded: Array.isArray(loaded) ? (loaded as readonly LoadedRecord[]) : [],
  }
}

/** `undefined` for a missing or damaged file. */
function read(folder: string, name: FileName): unknown {
  try {
    return JSON.parse(readFileSync(pathOf(folder, name), 'utf8').split('\n', 1)[0] ?? '')
  } catch {
    return undefined
  }
}

const objectOf = (value: unknown): object => (isRecord(value) ? value : {})

function faultOf(value: unknown): Fault | undefined {
  if (!isRecord(value) || typeof value.reason !== 'string') return undefined
  const { reason, extension, stage } = value
  return {
    reason,
    ...(typeof extension === 'string' && { extension }),
    ...(typeof stage === 'string' && { stage }),
  }
}
