import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { HookPlace } from './hook-place.ts'

/** The file of a program, looked for as the system does when it is started. */
export function findProgram(program: string, { baseDir, environment }: Pick<HookPlace, 'baseDir' | 'environment'>): string | undefined {
  const folders = program.includes('/') ? [''] : (environment.PATH ?? '/usr/bin:/bin').split(delimiter)
  return folders.map((folder) => (folder === '' ? resolve(baseDir, program) : join(folder, program))).find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
