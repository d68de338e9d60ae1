import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Ended as InProcess, runCommand } from '../run-command.ts'
import { startedProcesses } from '../started-processes.ts'

export const binary = join(import.meta.dirname, '..', '..', 'bin', 'troupe.mjs')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}
export interface Running {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when standard error has said this. */
  says(text: string): Promise<void>
}
export interface Start {
  /** Piped in; otherwise standard input is empty. */
  readonly input?: string | Uint8Array
  /** An open file to read from instead. */
  readonly stdin?: number
  readonly env?: { readonly [name: string]: string }
  /** Default: the folder of the workbench. */
  readonly cwd?: string
  /** Flags for Node itself. */
  readonly node?: readonly string[]
  readonly binary?: string
}

/** A folder with agents in it, and the command line to run them with, as a process. */
export interface Workbench {
  readonly folder: string
  /** Writes `<name>.ai` and its script; answers the file's name. */
  agent(name: string, script: string, settings?: string): Promise<string>
  /** In a process of its own, as it was built. */
  start(args: readonly string[], start?: Start): Running
  /** In this process. */
  troupe(args: readonly string[], options?: Pick<Start, 'input' | 'env' | 'cwd'>): Promise<InProcess>
}

export async function workbench(): Promise<Workbench> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-cli-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return {
    folder,
    async agent(name, script, settings = `description: A test\nmodels: script/${name}.yaml`) {
      await writeFile(join(folder, `${name}.yaml`), script)
      await writeFile(join(folder, `${name}.ai`), `---\n${settings}\n---\nYou are tested.\n`)
      return `${name}.ai`
    },
    start: (args, options = {}) => running(folder, args, options),
    troupe: (args, { input = '', env = {}, cwd = folder } = {}) =>
      runCommand(cwd, args, { env: { ...variables(folder), ...env }, stdin: input }),
  }
}

/** Nothing of the machine that runs the tests: no home, no colours, no options of Node. */
const variables = (folder: string) => ({
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  HOME: folder,
  XDG_STATE_HOME: join(folder, 'state'),
})

function running(
  folder: string,
  args: readonly string[],
  { input, stdin, env = {}, cwd = folder, node = [], binary: file = binary }: Start,
): Running {
  const child = spawn(process.execPath, [...node, file, ...args], {
    cwd,
    env: { ...variables(folder), ...env },
    stdio: [stdin ?? (input === undefined ? 'ignore' : 'pipe'), 'pipe', 'pipe'],
  })
  startedProcesses.add(child)
  child.on('exit', () => startedProcesses.delete(child))
  child.stdin?.end(input)
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    for (const listener of listeners) listener()
  })
  return {
    process: child,
    ended: new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
    }),
    says: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!stderr.includes(text)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        look()
      }),
  }
}
