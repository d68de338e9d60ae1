import type { Size } from './screen.ts'

/** What the live tree needs of a terminal. */
export interface Terminal {
  readonly size: Size
  /** Synchronous if the system supports it. */
  write(text: string): void
  /** Returns the function that stops listening. */
  watch(listener: Listener): () => void
}

export type TerminalEvent =
  | { readonly kind: 'resized' }
  /** Other code is about to write to the terminal. */
  | { readonly kind: 'before-write' }
  /** It has written; `isMidLine` if its output did not end with a line break. */
  | { readonly kind: 'after-write'; readonly isMidLine: boolean }
  /** The process is about to be stopped (Ctrl-Z). */
  | { readonly kind: 'pausing' }
  | { readonly kind: 'resumed' }
  | { readonly kind: 'closing' }
type Listener = (event: TerminalEvent) => void

type Stream = NodeJS.WriteStream
/** For terminals that report no size. */
const usual: Size = { width: 80, height: 24 }

/** Standard error of this process. Standard output is watched, too: usually both are the same terminal. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  const write = stderr.write.bind(stderr)
  return {
    get size() {
      return { width: stderr.columns || usual.width, height: stderr.rows || usual.height }
    },
    write: (text) => void write(text),
    watch(listener) {
      const shared = [stderr, ...(stdout.isTTY ? [stdout] : [])]
      const undo = [
        ...shared.map((stream) => watchWrites(stream, listener)),
        ...watchWarnings(listener),
        on(stderr, 'resize', () => listener({ kind: 'resized' })),
        on(process, 'exit', () => listener({ kind: 'closing' })),
        ...jobControl(listener),
      ]
      return () => {
        for (const stop of undo) stop()
      }
    },
  }
}

/** Detects other writes: warnings of Node, tools that print, events on standard output. */
function watchWrites(stream: Stream, listener: Listener): () => void {
  const original = stream.write
  const watched = ((...written: Parameters<Stream['write']>): boolean => {
    if (written[0].length === 0) return original.apply(stream, written)
    listener({ kind: 'before-write' })
    const isTaken = original.apply(stream, written)
    listener({ kind: 'after-write', isMidLine: !endsLine(written[0]) })
    return isTaken
  }) as Stream['write']
  stream.write = watched
  return () => {
    // Other code may have wrapped it again; then this wrapper stays and only passes on.
    if (stream.write === watched) stream.write = original
  }
}

/** Node prints warnings without the stream, between the first and the last listener. */
function watchWarnings(listener: Listener): readonly (() => void)[] {
  const before = (): void => listener({ kind: 'before-write' })
  process.prependListener('warning', before)
  return [() => void process.off('warning', before), on(process, 'warning', () => listener({ kind: 'after-write', isMidLine: false }))]
}

const endsLine = (chunk: string | Uint8Array): boolean => (typeof chunk === 'string' ? chunk.endsWith('\n') : chunk.at(-1) === 0x0a)

/** Ctrl-Z and fg. */
function jobControl(listener: Listener): readonly (() => void)[] {
  if (process.platform === 'win32') return []
  return [
    on(process, 'SIGTSTP', () => {
      listener({ kind: 'pausing' })
      process.kill(process.pid, 'SIGSTOP')
    }),
    on(process, 'SIGCONT', () => listener({ kind: 'resumed' })),
  ]
}

interface Emitter {
  on(name: string, listener: () => void): unknown
  off(name: string, listener: () => void): unknown
}

function on(emitter: Emitter, name: string, listener: () => void): () => void {
  emitter.on(name, listener)
  return () => void emitter.off(name, listener)
}
