// What a kernel process leaves for its supervisor: small files, written synchronously, because a process that dies can do nothing else.
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Whose code runs. */
export interface Suspect {
  readonly extension: string
  readonly stage: string
}

/** Why the process ends. Without a suspect if it is the fault of no extension. */
interface Fault extends Partial<Suspect> {
  readonly reason: string
}

export interface CrashFiles {
  readonly fault?: Fault
  /** The main thread did not answer, and this is where it was. */
  readonly blocked?: Fault
  /** The code that was entered last and has not returned. */
  readonly active?: Suspect
  readonly loaded?: readonly { readonly id: string; readonly hash: string; readonly isBundled: boolean }[]
}

const names = ['fault', 'blocked', 'active', 'loaded'] as const
const pathOf = (folder: string, name: keyof CrashFiles): string => join(folder, `${name}.json`)

/** A full disk must not hide the error that is being reported. */
export function writeCrashFile<Name extends keyof CrashFiles>(folder: string, name: Name, content: NonNullable<CrashFiles[Name]>): void {
  try {
    writeFileSync(pathOf(folder, name), JSON.stringify(content))
  } catch {}
}

/** Keeps the file open: a write takes about a microsecond. Only its first line is valid. */
export function activeFile(folder: string): (suspect: Suspect | undefined) => void {
  const file = openSync(pathOf(folder, 'active'), 'w')
  return (suspect) => {
    try {
      writeSync(file, suspect ? `${JSON.stringify(suspect)}\n` : '\n', 0)
    } catch {}
  }
}

export const removeCrashFile = (folder: string, name: keyof CrashFiles): void => rmSync(pathOf(folder, name), { force: true })

/** For the next process. */
export function clearCrashFiles(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of names) removeCrashFile(folder, name)
}

/** Without those that are missing or were cut off. */
export function readCrashFiles(folder: string): CrashFiles {
  const found = names.flatMap((name) => {
    try {
      return [[name, JSON.parse(readFileSync(pathOf(folder, name), 'utf8').split('\n', 1)[0] ?? '')]]
    } catch {
      return []
    }
  })
  return Object.fromEntries(found)
}
