// The process of a stdio server.
//
// 1. It gets the given environment, and descriptors 0 to 2 only.
// 2. No process of it survives this process, not even SIGKILL: it runs in a process namespace of bubblewrap that ends with this
//    process. Without bubblewrap, a watcher kills its process group; processes that left the group are found at its end.
// 3. It is not in the process group of the terminal: Ctrl-C reaches it through `close` only.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { dirname, isAbsolute, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Clock, defaultSandboxPolicy } from '../../contracts/index.ts'
import { childrenOf, killMarked, type Mark, newMark, processTree, sendSignal } from '../sandbox/process-tree.ts'
import { watchedCommand } from '../sandbox/watched-command.ts'
import { isProgram, trustedPath } from '../trusted-path.ts'
import { configFailure, McpError } from './mcp-failure.ts'
import type { McpHost } from './mcp-host.ts'
import { endByItselfMs, terminateMs } from './mcp-limits.ts'
import type { ResolvedStdio } from './resolve-server.ts'

export interface ServerProcess {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** The last characters of standard error. */
  errors(): string
  /** Resolves with the reason, such as `exit code 1`. */
  readonly ended: Promise<string>
  terminate(): void
  kill(): void
}

/** @throws McpError if the process cannot be started. */
export async function startServerProcess(server: ResolvedStdio, host: McpHost): Promise<ServerProcess> {
  return server.sandbox === 'off' ? startForLifetime(server, host) : startInSandbox(server, host)
}

/** Closes its input, and ends it if that does not. */
export async function endServerProcess({ stdin, stdout, ended, terminate, kill }: ServerProcess, clock: Clock): Promise<void> {
  stdin.end()
  stdout.resume()
  const endsWithin = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const cancel = clock.after(ms, () => resolve(false))
      void ended.then(() => {
        cancel()
        resolve(true)
      })
    })
  if (await endsWithin(endByItselfMs)) return kill()
  terminate()
  if (await endsWithin(terminateMs)) return kill()
  kill()
  await ended
}

async function startForLifetime({ program, args, environment, cwd, name }: ResolvedStdio, host: McpHost): Promise<ServerProcess> {
  const bubblewrap = await workingBubblewrap(host)
  const [file, ...begin] = bubblewrap === undefined ? watchedCommand : ([bubblewrap, ...lifetimeOnly, '--chdir', cwd, '--'] as const)
  const mark = bubblewrap === undefined ? newMark('TROUPE_SERVER') : undefined
  const child = spawn(file, [...begin, program, ...args], {
    cwd,
    env: { ...environment, ...mark?.environment },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(bubblewrap === undefined ? (['pipe'] as const) : [])],
  })
  const started = await new Promise<Error | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined))
    child.once('error', resolve)
  })
  if (started) throw configFailure(`The MCP server "${name}" could not be started: ${started.message}`, 'Check `command` and `cwd`.')
  return processOf(child, mark)
}

/** `mark`: of a process group. Without it, the process is bubblewrap. */
function processOf(child: ChildProcess, mark: Mark | undefined): ServerProcess {
  const { stdin, stdout, stderr } = child as { stdin: Writable; stdout: Readable; stderr: Readable }
  // An idle server does not keep this process alive. It ends with this process.
  child.unref()
  for (const stream of [stdin, stdout, stderr, child.stdio[3]] as readonly (Socket | undefined)[]) stream?.on('error', () => {}).unref()
  const pid = child.pid ?? 0
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid,
    stdin,
    stdout,
    errors: lastErrors(stderr),
    ended: new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        // A process that it started may still hold the pipes.
        if (mark) {
          sendSignal(-pid, 'SIGKILL')
          killMarked(mark)
        }
        child.stdio[3]?.destroy()
        resolve(signal ? `signal ${signal}` : `exit code ${code}`)
      })
    }),
    terminate: () => {
      if (hasExited()) return
      if (mark) sendSignal(-pid, 'SIGTERM')
      else terminateNamespace(pid)
    },
    kill: () => {
      if (!hasExited()) sendSignal(mark ? -pid : pid, 'SIGKILL')
    },
  }
}

const mostErrorCharacters = 4_000

function lastErrors(stderr: Readable): () => string {
  let errors = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = text.length >= mostErrorCharacters ? text.slice(-mostErrorCharacters) : `${errors}${text}`.slice(-mostErrorCharacters)
  })
  return () => errors
}

/** Bubblewrap itself would die of the signal, and take all processes with it. */
function terminateNamespace(pid: number): void {
  const [first] = childrenOf(pid)
  if (first === undefined) return
  for (const each of processTree(first)) if (each.pid !== first) sendSignal(each.pid, 'SIGTERM')
}

/** A namespace for processes, and nothing else: files, network and devices are those of the machine. */
const lifetimeOnly = ['--dev-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--die-with-parent'] as const

const tried = new Map<string, Promise<string | undefined>>()

/** The program, if it works on this system. Tried once. */
function workingBubblewrap({ environment, workspace }: McpHost): Promise<string | undefined> {
  const folders = (environment.PATH ?? '').split(':').filter((folder) => isAbsolute(folder))
  const found = folders.flatMap((folder) => trustedPath([workspace], join(folder, 'bwrap'))).find(isProgram)
  if (found === undefined || process.platform !== 'linux') return Promise.resolve(undefined)
  const known = tried.get(found)
  if (known) return known
  const works = new Promise<string | undefined>((resolve) => {
    execFile(found, [...lifetimeOnly, '--', '/bin/sh', '-c', 'exit 0'], { env: { PATH: dirname(found) }, timeout: 10_000 }, (error) =>
      resolve(error ? undefined : found),
    )
  })
  tried.set(found, works)
  return works
}

async function startInSandbox({ name, program, args, environment, cwd, sandbox }: ResolvedStdio, host: McpHost): Promise<ServerProcess> {
  if (!host.sandbox)
    throw configFailure(`The MCP server "${name}" has a sandbox policy, and there is no sandbox here`, 'Set `sandbox: off`.')
  const policy = { ...defaultSandboxPolicy, ...(sandbox === 'off' ? {} : sandbox) }
  const started = await host.sandbox.start({ argv: [program, ...args], cwd, environment, policy, isPiped: true })
  if (!started.ok) throw new McpError(started.failure)
  const { pipes, ended, terminate, kill } = started.running
  if (!pipes) throw new Error('the sandbox has started a command without pipes')
  return {
    pid: undefined,
    stdin: pipes.stdin,
    stdout: pipes.stdout,
    errors: pipes.errors,
    ended: ended.then(({ limit, signal, exitCode }) => limit ?? (signal ? `signal ${signal}` : `exit code ${exitCode}`)),
    terminate,
    kill,
  }
}
