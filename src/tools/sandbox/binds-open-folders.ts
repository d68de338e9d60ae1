import { execFile } from 'node:child_process'

const mostMs = 5_000
const known = new Map<string, Promise<boolean>>()

/** Whether a bubblewrap takes folders that are open. Those of before 0.10 take paths only, unless their distribution has mended them. */
export function bindsOpenFolders(program: string): Promise<boolean> {
  const asked = known.get(program) ?? ask(program)
  known.set(program, asked)
  return asked
}

const ask = (program: string): Promise<boolean> =>
  new Promise((resolve) =>
    execFile(program, ['--help'], { env: {}, timeout: mostMs }, (error, stdout) => resolve(!error && stdout.includes('--bind-fd'))),
  )
