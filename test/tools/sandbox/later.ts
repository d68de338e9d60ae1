import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from './ground.ts'

/** The clock of the files goes in steps: afterwards what is made is younger than this one. */
export async function later(file: string): Promise<void> {
  const folder = mkdtempSync(join(dirname(file), 'later-'))
  const isLater = (): boolean => {
    writeFileSync(join(folder, 'probe'), '')
    return statSync(join(folder, 'probe')).ctimeMs > statSync(file).ctimeMs
  }
  const isSo = await eventually(isLater)
  rmSync(folder, { recursive: true })
  if (!isSo) throw new Error('the clock of the files stands still')
}
