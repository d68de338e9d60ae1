/*
 * A program that was started for a command.
 *
 * 1. It gets what it is given and nothing else: no variable and no open file of ours.
 * 2. It is over when it has ended and its output has: whoever is still holding that open is ended first, or left behind.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Duplex, Writable } from 'node:stream'
import { messageOf } from '../../util/message-of.ts'
import { withoutInherited } from './inherited.ts'
import { type OutputPipe, takePipe } from './output-pipe.ts'

/** What every command is started with, whether or not there are walls. */
export interface Start {
  readonly file: string
  readonly args: readonly string[]
  readonly environment: { readonly [name: string]: string }
  readonly cwd?: string
  readonly stdin: string | undefined
  /** A session and a group of its own. */
  readonly isLeader?: boolean
  /** Written to the descriptors from 3 on, one for each. */
  readonly inputs?: readonly Buffer[]
  /** Whether there is one more after those, which is spoken over when it may go on. */
  readonly isGated?: boolean
  /** Open files of ours that it gets, as the descriptors after all others. */
  readonly lent?: readonly (number | 'pipe')[]
}

export interface Over {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Why it was not even started. */
  readonly fault?: string
}

export interface RunningProcess {
  readonly child: ChildProcess | undefined
  /** What is printed, in buffers that are used again. To be called once, and at once. */
  listen(take: (piece: Uint8Array) => void): void
  /** Ends listening, whoever is still printing. */
  hangUp(): void
  /** What the program said beside its output before the command was its own. */
  readonly complaints: () => string
  readonly gate: Duplex | undefined
  readonly over: Promise<Over>
}

const mostComplaints = 4_000

export async function startProcess(start: Start): Promise<RunningProcess> {
  const pipe = await takePipe()
  const inputs = start.inputs ?? []
  const extras = inputs.length + (start.isGated ? 1 : 0)
  let child: ChildProcess
  try {
    child = spawn(start.file, start.args, {
      env: start.environment,
      ...(start.cwd !== undefined && { cwd: start.cwd }),
      detached: start.isLeader ?? false,
      stdio: descriptors(start, pipe, extras),
    })
  } catch (error) {
    pipe?.close()
    return neverStarted(messageOf(error))
  } finally {
    if (pipe) closeSync(pipe.writer)
  }
  write(child.stdin, start.stdin)
  inputs.forEach((data, index) => {
    write(child.stdio[3 + index] as Writable | null, data)
  })
  const gate = start.isGated ? (child.stdio[2 + extras] as Duplex) : undefined
  gate?.on('error', () => {})
  return {
    child,
    ...printed(child, pipe),
    complaints: complaintsOf(child),
    gate,
  }
}

function descriptors(start: Start, pipe: OutputPipe | undefined, extras: number): StdioOptions {
  const own = [start.stdin === undefined ? 'ignore' : 'pipe', pipe?.writer ?? 'pipe', 'pipe'] as const
  return withoutInherited([...own, ...Array.from({ length: extras }, () => 'pipe' as const), ...(start.lent ?? [])])
}

/** What is printed, and when all is over: the program, and its output where somebody listens. */
function printed(child: ChildProcess, pipe: OutputPipe | undefined): Pick<RunningProcess, 'listen' | 'hangUp' | 'over'> {
  const silent = Promise.withResolvers<void>()
  let hangUp = (): void => {
    pipe?.close()
    silent.resolve()
  }
  const ended = new Promise<Over>((resolve) => {
    child.once('error', (error) => resolve({ exitCode: null, signal: null, fault: error.message }))
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  return {
    listen(take) {
      if (pipe) hangUp = pipe.read(take, silent.resolve)
      else {
        child.stdout?.on('data', take).once('close', silent.resolve)
        hangUp = () => child.stdout?.destroy()
      }
    },
    hangUp: () => hangUp(),
    over: Promise.all([ended, silent.promise]).then(([over]) => over),
  }
}

function complaintsOf({ stderr }: ChildProcess): () => string {
  let complaints = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = `${complaints}${text}`.slice(0, mostComplaints)
  })
  return () => complaints
}

/** Whoever does not read it to the end need not. */
function write(stream: Writable | null | undefined, data: string | Buffer | undefined): void {
  if (!stream) return
  stream.on('error', () => {})
  stream.end(data ?? '')
}

function neverStarted(fault: string): RunningProcess {
  return {
    child: undefined,
    listen: () => {},
    hangUp: () => {},
    complaints: () => '',
    gate: undefined,
    over: Promise.resolve({ exitCode: null, signal: null, fault }),
  }
}
