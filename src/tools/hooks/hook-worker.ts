import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { HookContext, SessionPlace } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'

// Runs a hook module in its own thread, which can always be ended.
//
// 1. Each question is answered once, one turn after its answer: an unhandled rejection
//    comes first, and then there is no answer.
// 2. Its output does not reach the outputs of the process.
// 3. Only the trusted module runs: the hash is taken of the loaded text, not of the file.

export interface WorkerSetup {
  readonly module: string
  /** The expected hash of the file, if it is checked. */
  readonly sha256: string | undefined
  readonly names: readonly string[]
  /** Per output, while questions are open. */
  readonly mostOutputBytes: number
}

export interface HookQuestion {
  /** JSON. */
  readonly view: string
  readonly place: SessionPlace
}

export type ToWorker =
  | ({ readonly kind: 'ask'; readonly id: number; readonly name: string } & HookQuestion)
  | { readonly kind: 'give_up'; readonly id: number }

export type FromWorker =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'not_loaded'; readonly message: string }
  | { readonly kind: 'lacks'; readonly names: readonly string[] }
  /** JSON; absent without an answer. */
  | { readonly kind: 'answered'; readonly id: number; readonly answer?: string }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  /** On standard error. */
  | { readonly kind: 'complained'; readonly text: string }
  | { readonly kind: 'printed_too_much' }

type Exported = (question: unknown, context: HookContext) => unknown

const { module, sha256, names, mostOutputBytes } = workerData as WorkerSetup
const open = new Map<number, AbortController>()
/** Bytes, by output. */
const printed = new Map<NodeJS.WriteStream, number>()
const tell = (message: FromWorker): void => parentPort?.postMessage(message)

for (const stream of [process.stdout, process.stderr]) hold(stream)
const exported = await load()
if (exported) {
  parentPort?.on('message', (message: ToWorker) => {
    if (message.kind === 'give_up') open.get(message.id)?.abort()
    else void answer(message, exported)
  })
  tell({ kind: 'loaded' })
}

async function load(): Promise<{ readonly [name: string]: unknown } | undefined> {
  try {
    if (sha256 !== undefined) compareFirst(sha256)
    const found = (await import(module)) as { readonly [name: string]: unknown }
    const missing = names.filter((name) => typeof found[name] !== 'function')
    if (missing.length === 0) return found
    tell({ kind: 'lacks', names: missing })
  } catch (error) {
    tell({ kind: 'not_loaded', message: messageOf(error) })
  }
  return undefined
}

/** The first load is the module itself, under the URL that its links resolve to. */
function compareFirst(expected: string): void {
  let isFirst = true
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!isFirst) return loaded
      isFirst = false
      const text = loaded.source ?? readFileSync(fileURLToPath(url))
      const bytes = typeof text === 'string' ? text : new Uint8Array(text as ArrayBuffer)
      if (createHash('sha256').update(bytes).digest('hex') !== expected)
        throw new Error('it was replaced while it was checked, so it is not run')
      return loaded
    },
  })
}

async function answer(
  { id, name, view, place }: Extract<ToWorker, { kind: 'ask' }>,
  found: { readonly [name: string]: unknown },
): Promise<void> {
  if (open.size === 0) printed.clear()
  const controller = new AbortController()
  open.set(id, controller)
  const said = await answerOf(() => (found[name] as Exported)(JSON.parse(view), { ...place, signal: controller.signal }))
  await new Promise((resolve) => setImmediate(resolve))
  open.delete(id)
  tell({ id, ...said })
}

type Said = { readonly kind: 'answered'; readonly answer?: string } | { readonly kind: 'failed'; readonly message: string }

async function answerOf(ask: () => unknown): Promise<Said> {
  try {
    const given = await ask()
    if (given === undefined || given === null) return { kind: 'answered' }
    const text: string | undefined = JSON.stringify(given)
    // A value without JSON form is not the same as no answer.
    if (text === undefined || text === 'null') return { kind: 'failed', message: `it answered ${showValue(given)}, expected an object` }
    return { kind: 'answered', answer: text }
  } catch (error) {
    return { kind: 'failed', message: messageOf(error) }
  }
}

/** Reading the streams of a thread keeps the process alive, so the output is sent as messages. */
function hold(stream: NodeJS.WriteStream): void {
  stream.write = (piece: unknown, encoding?: unknown, done?: unknown): boolean => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece as Uint8Array)
    const before = printed.get(stream) ?? 0
    const isOver = before + bytes.length > mostOutputBytes
    printed.set(stream, before + bytes.length)
    if (isOver && before <= mostOutputBytes) tell({ kind: 'printed_too_much' })
    else if (!isOver && stream === process.stderr) tell({ kind: 'complained', text: bytes.toString('utf8') })
    const finished = typeof encoding === 'function' ? encoding : done
    if (typeof finished === 'function') process.nextTick(finished as () => void)
    return true
  }
}
