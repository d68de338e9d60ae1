import type { Size } from './screen.ts'

/** A window that takes escapes, as far as drawing in place needs it. */
export interface Terminal {
  readonly size: Size
  /** Hands over the text before it returns, where the system can do that. */
  write(text: string): void
  /** Tells what happens to the window. The answer stops listening. */
  watch(listener: Listener): () => void
}

export type TerminalEvent =
  | { readonly kind: 'resized' }
  /** Somebody else is about to write to it. */
  | { readonly kind: 'before-write' }
  /** And has done so; what comes next begins in the middle of a line, or does not. */
  | { readonly kind: 'after-write'; readonly isMidLine: boolean }
  /** The process is about to be put into the background. */
  | { readonly kind: 'pausing' }
  | { readonly kind: 'resumed' }
  /** The process is about to end. */
  | { readonly kind: 'closing' }
type Listener = (event: TerminalEvent) => void

type Stream = NodeJS.WriteStream
/** What a window without a size is taken for. */
const usual: Size = { width: 80, height: 24 }

/** Standard error of this process. Standard output is watched as well: mostly both are the same window. */
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

/** Notices whoever writes to the stream: a warning of Node, a tool that prints, events that go to standard output. */
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
    // Somebody else may have put a layer of their own on top; then this one only passes on.
    if (stream.write === watched) stream.write = original
  }
}

/** Node prints its warnings past the stream, between the first and the last of those who listen for them. */
function watchWarnings(listener: Listener): readonly (() => void)[] {
  const before = (): void => listener({ kind: 'before-write' })
  process.prependListener('warning', before)
  return [() => void process.off('warning', before), on(process, 'warning', () => listener({ kind: 'after-write', isMidLine: false }))]
}

const endsLine = (chunk: string | Uint8Array): boolean => (typeof chunk === 'string' ? chunk.endsWith('\n') : chunk.at(-1) === 0x0a)

/** Ctrl-Z and fg: the shell gets its window back in order, and so do we. */
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
