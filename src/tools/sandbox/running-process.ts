// A child process that runs a command.
//
// 1. It gets the given environment and descriptors, and no others of this process.
// 2. It is over when it has exited and its output is closed.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Duplex, Readable, Writable } from 'node:stream'
import { messageOf } from '../../util/message-of.ts'
import { type OutputPipe, takePipe } from './output-pipe.ts'
import type { CommandPipes } from './sandbox-types.ts'

export interface ProcessStart {
  readonly file: string
  readonly args: readonly string[]
  readonly environment: { readonly [name: string]: string }
  readonly cwd?: string
  readonly stdin: string | undefined
  readonly isPiped?: boolean
  /** A session and a process group of its own. */
  readonly leadsGroup?: boolean
  /** Written to the descriptors from 3 on, one for each. */
  readonly inputs?: readonly Buffer[]
  /** Whether a socket follows, to tell the process that it may continue. */
  readonly hasGate?: boolean
  /** Descriptors after all others. */
  readonly further?: readonly (number | 'pipe')[]
}

interface Exit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly fault?: string
}

export interface RunningProcess {
  readonly child: ChildProcess | undefined
  /** Delivers the output, in buffers that are reused. Call it once, immediately. */
  listen(take: (piece: Uint8Array) => void): void
  /** Closes the output, even where a process still prints. */
  stopListening(): void
  /** What was printed to standard error, once it is closed. A sandboxed command prints to its output instead. */
  readonly errors: Promise<string>
  readonly pipes: CommandPipes | undefined
  readonly gate: Duplex | undefined
  readonly exited: Promise<Exit>
  readonly over: Promise<Exit>
}

const mostErrors = 4_000

export async function startProcess(start: ProcessStart): Promise<RunningProcess> {
  const pipe = start.isPiped ? undefined : await takePipe()
  const inputs = start.inputs ?? []
  const extras = inputs.length + (start.hasGate ? 1 : 0)
  let child: ChildProcess
  try {
    child = spawn(start.file, start.args, {
      env: start.environment,
      ...(start.cwd !== undefined && { cwd: start.cwd }),
      detached: start.leadsGroup ?? false,
      stdio: descriptors(start, pipe, extras),
    })
  } catch (error) {
    pipe?.close()
    return neverStarted(messageOf(error))
  } finally {
    if (pipe) closeSync(pipe.writer)
  }
  if (!start.isPiped) write(child.stdin, start.stdin)
  inputs.forEach((data, index) => {
    write(child.stdio[3 + index] as Writable | null, data)
  })
  const gate = start.hasGate ? (child.stdio[2 + extras] as Duplex) : undefined
  gate?.on('error', () => {})
  return {
    child,
    ...printed(child, pipe),
    ...(start.isPiped ? piped(child) : { pipes: undefined, errors: errorsOf(child) }),
    gate,
  }
}

function descriptors(start: ProcessStart, pipe: OutputPipe | undefined, extras: number): StdioOptions {
  const own = [start.stdin === undefined && !start.isPiped ? 'ignore' : 'pipe', pipe?.writer ?? 'pipe', 'pipe'] as const
  return withoutInherited([...own, ...Array.from({ length: extras }, () => 'pipe' as const), ...(start.further ?? [])])
}

function printed(child: ChildProcess, pipe: OutputPipe | undefined): Pick<RunningProcess, 'listen' | 'stopListening' | 'exited' | 'over'> {
  const closed = Promise.withResolvers<void>()
  let stopListening = (): void => {
    pipe?.close()
    closed.resolve()
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ exitCode: null, signal: null, fault: error.message }))
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  return {
    listen(take) {
      if (pipe) stopListening = pipe.read(take, closed.resolve)
      else {
        child.stdout?.on('data', take).once('close', closed.resolve)
        stopListening = () => child.stdout?.destroy()
      }
    },
    stopListening: () => stopListening(),
    exited,
    over: Promise.all([exited, closed.promise]).then(([exit]) => exit),
  }
}

function errorsOf({ stderr }: ChildProcess): Promise<string> {
  let errors = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(0, mostErrors)
  })
  return new Promise((resolve) => stderr?.once('close', () => resolve(errors.trim())))
}

/** A program that lives long: the end of what it printed is kept, not the beginning. It does not keep this process alive. */
function piped(child: ChildProcess): Pick<RunningProcess, 'errors' | 'pipes'> {
  const { stdin, stdout, stderr } = child as { stdin: Writable; stdout: Readable; stderr: Readable }
  let errors = ''
  child.unref()
  for (const stream of child.stdio as readonly (Socket | null)[]) stream?.unref()
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {})
  stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-mostErrors)
  })
  const closed = new Promise<string>((resolve) => stderr.once('close', () => resolve(errors.trim())))
  return { errors: closed, pipes: { stdin, stdout, errors: () => errors } }
}

/** A process that does not read all of it is no error. */
function write(stream: Writable | null | undefined, data: string | Buffer | undefined): void {
  if (!stream) return
  stream.on('error', () => {})
  stream.end(data ?? '')
}

function neverStarted(fault: string): RunningProcess {
  const exited = Promise.resolve({ exitCode: null, signal: null, fault })
  return {
    child: undefined,
    listen: () => {},
    stopListening: () => {},
    errors: Promise.resolve(''),
    pipes: undefined,
    gate: undefined,
    exited,
    over: exited,
  }
}

type Descriptors = Exclude<StdioOptions, string>

/**
 * Descriptors that this process inherited, from an editor for example, would be open in the command as well, and an open
 * folder is a way out of the sandbox. They are replaced by `/dev/null`.
 */
function withoutInherited(descriptors: Descriptors): Descriptors {
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor >= descriptors.length)
  if (inherited.length === 0) return descriptors
  devNull ??= openSync('/dev/null', 'r')
  const all: Descriptors = [...descriptors]
  for (const descriptor of inherited) {
    while (all.length < descriptor) all.push('ignore')
    all[descriptor] = devNull
  }
  return all
}

let devNull: number | undefined

/** Descriptors without FD_CLOEXEC. Only Linux lists them. */
function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter(isInherited)
      .toSorted((one, other) => one - other)
  } catch {
    return []
  }
}

function isInherited(descriptor: number): boolean {
  const closedOnExec = 0o2000000
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closedOnExec) === 0
  } catch {
    return false
  }
}
