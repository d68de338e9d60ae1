import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'

/*
 * Runs a module that answers for a hook, in a thread of its own: whatever it does, it can be ended.
 *
 * 1. Each question is answered once, after everything that its answer has set off at once: a rejection that nobody handles
 *    comes first, and there is no answer then.
 * 2. Nothing that is printed reaches the outputs of the process.
 * 3. Of the module only what was trusted runs: what is compared is the text that was loaded, not the file.
 */

/** What a worker is started with. */
export interface WorkerSetup {
  /** Where the module is, as an address. */
  readonly module: string
  /** What the file has to be, where that counts. */
  readonly sha256: string | undefined
  /** The functions that it has to export. */
  readonly names: readonly string[]
  /** More than this on either output is too much, between two moments in which nothing is asked. */
  readonly mostOutputBytes: number
}

export type ToWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly name: string; readonly question: string }
  /** Nobody waits for the answer any more. */
  | { readonly kind: 'give_up'; readonly id: number }

export type FromWorker =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'not_loaded'; readonly message: string }
  | { readonly kind: 'lacks'; readonly names: readonly string[] }
  /** JSON, or nothing where there was no answer. */
  | { readonly kind: 'answered'; readonly id: number; readonly answer?: string }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  /** On standard error. */
  | { readonly kind: 'complained'; readonly text: string }
  | { readonly kind: 'printed_too_much' }

type Exported = (question: unknown, context: { readonly signal: AbortSignal }) => unknown

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

/** The first that is loaded is the module itself, by whatever address: that of a link becomes that of its goal. */
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
  { id, name, question }: Extract<ToWorker, { kind: 'ask' }>,
  found: { readonly [name: string]: unknown },
): Promise<void> {
  if (open.size === 0) printed.clear()
  const controller = new AbortController()
  open.set(id, controller)
  const said = await answerOf(() => (found[name] as Exported)(JSON.parse(question), { signal: controller.signal }))
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
    // What is no JSON must not be taken for no answer.
    if (text === undefined || text === 'null') return { kind: 'failed', message: `it answered ${showValue(given)}, expected an object` }
    return { kind: 'answered', answer: text }
  } catch (error) {
    return { kind: 'failed', message: messageOf(error) }
  }
}

/** Whoever reads the outputs of a thread keeps the process alive by that, so they are told like answers are. */
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
