import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const binary = join(import.meta.dirname, '..', '..', 'bin', 'troupe.mjs')

/** A command line in a folder, as it was built, as a process of its own, with nothing of the machine that runs the tests. */
export function troupe(folder: string, args: readonly string[], env: { readonly [name: string]: string } = {}): Promise<Ended> {
  const child: ChildProcess = spawn(process.execPath, [binary, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: join(folder, '.home'), XDG_STATE_HOME: join(folder, '.state'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}
