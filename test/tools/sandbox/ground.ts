import {
  accessSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Clock, defaultSandboxPolicy, type SandboxPolicy } from '../../../src/contracts/index.ts'
import {
  type Ending,
  type ProcessSandbox,
  processSandbox,
  type RunningCommand,
  startUnsandboxed,
} from '../../../src/tools/sandbox/index.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

export const path = process.env.PATH ?? '/usr/bin:/bin'

export const find = (program: string): string | undefined =>
  path
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

/** A workspace, a home and things outside, each with something that must not get out or be changed. */
export interface Ground {
  readonly base: string
  readonly workspace: string
  readonly home: string
  /** Seen from inside, unless the whole project is in a home folder. */
  readonly outside: string
  readonly data: string
  readonly sandbox: ProcessSandbox
  run(command: string, policy?: Partial<SandboxPolicy>): Promise<Ran>
  /** The same without a sandbox. */
  runOutside(command: string): Promise<Ran>
  remove(): void
}

export interface Ran extends Ending {
  readonly text: string
}

export function ground(): Ground {
  const base = mkdtempSync(join(tmpdir(), 'troupe-ground-'))
  const cache = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const outside = realpathSync(mkdtempSync(join(cache, 'troupe-outside-')))
  const [workspace, home, data] = ['workspace', 'home', 'data'].map((name) => join(base, name)) as [string, string, string]
  const write = (file: string, text: string): void => {
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
  }
  write(join(outside, 'secret'), 'SECRET-OUTSIDE\n')
  for (const name of ['.ssh/id_rsa', '.aws/credentials', '.config/gh/hosts.yml', '.ai-agent/.ai-agent.env', '.npmrc']) {
    write(join(home, name), 'SECRET-OF-HOME\n')
  }
  write(join(data, 'journal.sqlite'), 'SECRET-OF-DATA\n')
  write(join(workspace, 'readme.md'), 'hello\n')
  write(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n')
  write(join(workspace, '.git/config'), '[core]\n')
  write(join(workspace, '.git/hooks/pre-push'), '#!/bin/sh\n')
  write(join(workspace, '.ai-agent.json'), '{}\n')
  write(join(workspace, '.ai-agent.env'), 'KEY=SECRET-OF-PROVIDER\n')
  write(join(workspace, 'editor/settings.json'), '{}\n')
  write(join(workspace, 'docs/.ai-agent.env'), 'KEY=SECRET-OF-PROVIDER\n')
  for (const name of ['HEAD', 'config', 'hooks/pre-push']) {
    mkdirSync(join(workspace, 'vendor/lib/.git', name, '..'), { recursive: true })
    cpSync(join(workspace, '.git', name), join(workspace, 'vendor/lib/.git', name))
  }
  for (const git of ['.git', 'vendor/lib/.git']) for (const name of ['objects', 'refs']) mkdirSync(join(workspace, git, name))
  symlinkSync('editor', join(workspace, '.vscode'))
  const sandbox = processSandbox({ root: workspace, path, home, hidden: [data], clock: realClock })
  const shell = ['/bin/sh', '-c'] as const
  return {
    base,
    workspace,
    home,
    outside,
    data,
    sandbox,
    async run(command, policy = {}) {
      const started = await sandbox.start({
        argv: [...shell, command],
        cwd: workspace,
        environment: { PATH: path },
        policy: { ...defaultSandboxPolicy, ...policy },
      })
      if (!started.ok) throw new Error(started.failure.message)
      return followed(started.running)
    },
    runOutside: async (command) =>
      followed(await startUnsandboxed({ argv: [...shell, command], cwd: workspace, environment: { PATH: path } }, realClock)),
    remove() {
      rmSync(base, { recursive: true, force: true })
      rmSync(outside, { recursive: true, force: true })
    },
  }
}

async function followed({ listen, ended }: RunningCommand): Promise<Ran> {
  const pieces: Buffer[] = []
  listen((piece) => pieces.push(Buffer.from(piece)))
  const ending = await ended
  return { ...ending, text: Buffer.concat(pieces).toString() }
}

/** Waits for something that the kernel does soon, without guessing how soon. */
export async function eventually(isSo: () => boolean, ms = 30_000): Promise<boolean> {
  const end = performance.now() + ms
  while (!isSo()) {
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return true
}

/** Processes that call themselves so. */
export function processesNamed(name: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(name)
    } catch {
      return false
    }
  })
}
