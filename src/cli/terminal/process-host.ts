import type { Readable } from 'node:stream'
import { Output } from './output.ts'
import { type Paint, paintFor, type Window, windowFor } from './paint.ts'

/** Why a command is asked to end: Ctrl-C, a signal or a closed output. Each has an exit code. */
export type EndRequest = 'interrupted' | 'terminated' | 'hangup' | 'pipe'

/** The parts of the process that commands use. */
export interface Host {
  /** The working directory. */
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number }
  /** For the answer only. */
  readonly stdout: Output
  /** For everything else. */
  readonly stderr: Output
  /** The kind of standard error. */
  readonly window: Window
  /** Whether standard error is a terminal, even a plain one. Default: whether `window` is. */
  readonly isSeen?: boolean
  /** Colours of standard error. */
  readonly paint: Paint
  /** Colours of standard output. Default: none. */
  readonly answerPaint?: Paint
  /** Columns of standard error. */
  readonly width: number
  /** Milliseconds since 1970. */
  now(): number
  /** Calls the listener for every request to end. Returns a function that removes it. */
  onInterrupt(listener: (request: EndRequest) => void): () => void
  /** Ends the process immediately. */
  exit(code: number): never
}

/** Without a terminal. */
const plainWidth = 100
const signals = [
  ['SIGINT', 'interrupted'],
  ['SIGTERM', 'terminated'],
  ['SIGHUP', 'hangup'],
] as const

export function processHost(): Host {
  const { env, stdin, stdout, stderr } = process
  const window = windowFor(stderr, env)
  const outputs = { stdout: new Output(stdout), stderr: new Output(stderr) }
  return {
    // A getter, because the demonstration changes it.
    get cwd() {
      return process.cwd()
    },
    env,
    stdin,
    ...outputs,
    window,
    isSeen: stderr.isTTY === true,
    paint: paintFor(window),
    answerPaint: paintFor(windowFor(stdout, env)),
    // A getter, because the terminal may be resized.
    get width() {
      return stderr.isTTY ? stderr.columns || plainWidth : plainWidth
    },
    now: () => Date.now(),
    onInterrupt(listener) {
      const listeners = signals.map(([signal, request]) => ({ signal, hear: () => listener(request) }))
      for (const { signal, hear } of listeners) process.on(signal, hear)
      // A closed terminal also sends SIGHUP: both are the same request.
      outputs.stdout.onEnd(() => listener(stdout.isTTY ? 'hangup' : 'pipe'))
      outputs.stderr.onEnd(() => listener(stderr.isTTY ? 'hangup' : 'pipe'))
      return () => {
        for (const { signal, hear } of listeners) process.off(signal, hear)
      }
    },
    exit: (code) => process.exit(code),
  }
}
