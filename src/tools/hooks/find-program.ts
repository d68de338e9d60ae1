import { delimiter, join, resolve } from 'node:path'
import { isProgram } from '../is-program.ts'
import type { HookPlace } from './hook-place.ts'

/** The file of a program, looked for as the system does when it is started. */
export function findProgram(program: string, { baseDir, environment }: Pick<HookPlace, 'baseDir' | 'environment'>): string | undefined {
  const folders = program.includes('/') ? [''] : (environment.PATH ?? '/usr/bin:/bin').split(delimiter)
  return folders.map((folder) => (folder === '' ? resolve(baseDir, program) : join(folder, program))).find(isProgram)
}
