import { join } from 'node:path'
import { type Ended, runCommand } from '../run-command.ts'

export type { Ended } from '../run-command.ts'

/** A command line in a folder, with nothing of the machine that runs the tests. */
export const troupe = (folder: string, args: readonly string[], env: { readonly [name: string]: string } = {}): Promise<Ended> =>
  runCommand(folder, args, {
    env: { PATH: process.env.PATH, HOME: join(folder, '.home'), XDG_STATE_HOME: join(folder, '.state'), ...env },
  })
