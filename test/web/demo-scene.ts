import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startedProcesses } from '../started-processes.ts'

// `troupe demo --web` as it was built, in a process of its own and with a folder of its own.

export interface DemoScene {
  readonly url: string
  /** With the token. */
  readonly address: string
  readonly folder: string
  /** The id of the process that keeps a server running. */
  readonly parentId: number
  /** The process of the server that runs now. */
  serverId(): Promise<number>
  read<Answer>(path: string): Promise<Answer>
  file(path: string): Promise<string>
  /** The file for keys. */
  keys(): Promise<string>
  /** Sends a signal to the parent, and resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

const binary = join(import.meta.dirname, '../../bin/troupe.mjs')

/** `config`: the configuration of the user. */
export async function demoScene({ port = 0, config }: { readonly port?: number; readonly config?: object } = {}): Promise<DemoScene> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-demo-test-'))
  if (config) {
    await mkdir(join(folder, '.ai-agent'))
    await writeFile(join(folder, '.ai-agent', '.ai-agent.json'), JSON.stringify(config))
  }
  const parent = spawn(
    process.execPath,
    [binary, 'demo', '--web', '--no-open', '--port', String(port), '--data-dir', join(folder, 'demo')],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  startedProcesses.add(parent)
  const ended = new Promise<number | null>((resolve) => parent.on('exit', resolve))
  let banner = ''
  await new Promise<void>((resolve, reject) => {
    parent.stderr.setEncoding('utf8').on('data', (text: string) => {
      banner += text
      if (banner.includes('Stop with Ctrl-C.')) resolve()
    })
    void ended.then(() => reject(new Error(banner)))
  })
  const [, url = '', token = ''] = /Web chat +(http:\S+)\/#token=(\S+)/.exec(banner) ?? []
  const read: DemoScene['read'] = async (path) =>
    (await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json()) as never
  return {
    ...{ url, folder, read },
    address: `${url}/#token=${token}`,
    parentId: parent.pid ?? 0,
    serverId: async () => (await read<{ readonly demo: { readonly processId: number } }>('/v1/status')).demo.processId,
    keys: () => readFile(join(folder, '.ai-agent', '.ai-agent.env'), 'utf8'),
    file: (path) => readFile(join(folder, 'demo/workspace', path), 'utf8'),
    async end(signal = 'SIGTERM') {
      parent.kill(signal)
      const code = await ended
      startedProcesses.delete(parent)
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
      return code
    },
  }
}

export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch {
    return false
  }
}
