import type { Readable } from 'node:stream'
import { Output } from '../terminal/output.ts'
import { type Paint, paintFor, type Window, windowFor } from '../terminal/paint.ts'

/** Who asks a command to end: a person with Ctrl-C, or the system. Each has an exit code. */
export type EndRequest = 'interrupted' | 'terminated' | 'hangup' | 'pipe'

/** What a command sees of the process it runs in. */
export interface Host {
  readonly env: { readonly [name: string]: string | undefined }
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number }
  /** Belongs to the answer. */
  readonly stdout: Output
  /** Everything else. */
  readonly stderr: Output
  /** What standard error is. */
  readonly window: Window
  /** Whether a person sees it, whatever may be drawn there. Default: where the window is a terminal. */
  readonly isSeen?: boolean
  /** Colours of standard error. */
  readonly paint: Paint
  /** Colours of standard output. Default: none. */
  readonly answerPaint?: Paint
  /** Columns of standard error. */
  readonly width: number
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back whenever a person or the system asks to end. The answer stops listening. */
  onInterrupt(listener: (request: EndRequest) => void): () => void
  /** Ends the process at once. */
  exit(code: number): never
}

/** Where there is no terminal, lines are as long as most people's. */
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
    env,
    stdin,
    ...outputs,
    window,
    isSeen: stderr.isTTY === true,
    paint: paintFor(window),
    answerPaint: paintFor(windowFor(stdout, env)),
    // The window may have been resized since.
    get width() {
      return stderr.isTTY ? stderr.columns || plainWidth : plainWidth
    },
    now: () => Date.now(),
    onInterrupt(listener) {
      const listeners = signals.map(([signal, request]) => ({ signal, hear: () => listener(request) }))
      for (const { signal, hear } of listeners) process.on(signal, hear)
      // A terminal that is lost sends SIGHUP as well: both mean the same.
      outputs.stdout.onEnd(() => listener(stdout.isTTY ? 'hangup' : 'pipe'))
      outputs.stderr.onEnd(() => listener(stderr.isTTY ? 'hangup' : 'pipe'))
      return () => {
        for (const { signal, hear } of listeners) process.off(signal, hear)
      }
    },
    exit: (code) => process.exit(code),
  }
}
