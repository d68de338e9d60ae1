// The program of the process of an extension: `node extension-runner ENTRY CLASS`. It loads the extension, says `hello`, and serves
// the calls of the kernel until its input ends.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyExtension, BusEvent, InvokeCall, JsonObject, Tool } from '../../../contracts/index.ts'
import { KernelPort } from './kernel-port.ts'
import { type ContextFacts, type ProcessContext, processContext } from './process-context.ts'
import { ProcessTools, type ToolCall } from './tool-calls.ts'
import {
  errorCode,
  extensionMethods,
  inputDescriptor,
  LineReader,
  maxErrorCharacters,
  maxLineBytes,
  outputDescriptor,
  type WireMessage,
} from './wire.ts'

const [entry = '', className = ''] = process.argv.slice(2)
const output = new Socket({ fd: outputDescriptor, readable: false, writable: true })
const kernel = new KernelPort((message) => output.write(`${JSON.stringify(message)}\n`))
const tools = new ProcessTools(kernel)
const open = new Map<number, AbortController>()
let connected: ProcessContext | undefined

type Params = { readonly [name: string]: unknown }
type Serve = (params: Params, signal: AbortSignal) => unknown

const handlers = (instance: AnyExtension): { readonly [method: string]: Serve } => ({
  ping: () => null,
  async initialize(params) {
    connected = processContext(params as unknown as ContextFacts, kernel)
    await instance.initialize?.(connected.context)
    return { descriptor: instance.getAgentDescriptor?.() }
  },
  start: () => instance.start?.(),
  stop: () => instance.stop?.(),
  destroy: () => instance.destroy?.(),
  healthCheck: () => instance.healthCheck?.(),
  getTools: async () => tools.list((await instance.getTools?.()) as readonly Tool[]),
  tool: (params, signal) => tools.execute(params as unknown as ToolCall, signal),
  sendToUser: ({ userId, message }) => instance.sendToUser?.(userId as string, message as never),
  streamToUser: ({ userId, piece }) => instance.streamToUser?.(userId as string, piece as never),
  limitsOf: ({ personId }) => instance.limitsOf?.(personId as string),
  showProgress: ({ userId, progress }) => instance.showProgress?.(userId as string, progress as never),
  closeRequest: ({ userId, closed }) => instance.closeRequest?.(userId as string, closed as never),
  runBackground: (_, signal) => instance.runBackground?.(signal),
  getSchedule: () => instance.getSchedule?.(),
  execute: () => instance.execute?.(),
  invoke: ({ task, context, call }, signal) =>
    instance.invoke?.(task as string, (context ?? undefined) as JsonObject | undefined, {
      ...(call as Pick<InvokeCall, 'person' | 'correlationId'>),
      signal,
      progress: (text) => kernel.notify('progress', { text }),
    }),
  getContext: ({ request }) => instance.getContext?.(request as never),
  event: ({ subscription, event }) => connected?.deliver(subscription as number, event as BusEvent),
})

for (const [stream, level] of [
  [process.stdout, 'info'],
  [process.stderr, 'warn'],
] as const)
  logWrites(stream, level)
await load()

/** Reading TypeScript takes longer than everything else: its result is kept in the data folder, which is the working directory. */
async function load(): Promise<void> {
  try {
    enableCompileCache(join(process.cwd(), '.compile-cache'))
    const loaded = (await import(pathToFileURL(entry).href)) as { readonly [name: string]: unknown }
    const Class = loaded[className]
    if (typeof Class !== 'function')
      throw new Error(`it exports no class ${className}. It exports: ${Object.keys(loaded).join(', ') || 'nothing'}`)
    const instance = new (Class as new () => AnyExtension)()
    listen(handlers(instance))
    kernel.notify('hello', { implements: extensionMethods.filter((name) => typeof instance[name] === 'function') })
    flushCompileCache()
  } catch (error) {
    const place = placeOf(error)
    // Node itself prints where the syntax is wrong; the error does not say it.
    if (error instanceof SyntaxError && place === '') throw error
    kernel.notify('failed', { message: textOf(error) + place })
  }
}

function listen(methods: { readonly [method: string]: Serve }): void {
  const lines = new LineReader(
    (line) => {
      const message = JSON.parse(line) as WireMessage
      if (message.method === undefined) kernel.answered(message)
      else if (message.method === 'cancel') open.get(message.params?.id as number)?.abort()
      else void serve(message, methods[message.method])
    },
    () => process.exit(1),
  )
  const input = new Socket({ fd: inputDescriptor, readable: true, writable: false })
  input.on('data', (chunk) => lines.read(chunk))
  input.on('close', () => process.exit(0))
}

async function serve({ id = 0, params = {} }: WireMessage, method: Serve | undefined): Promise<void> {
  const controller = new AbortController()
  open.set(id, controller)
  let answer: string
  try {
    if (!method) throw new Error('there is no such method')
    const result = await kernel.currentCall.run(id, () => method(params, controller.signal))
    answer = JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null })
    if (Buffer.byteLength(answer) >= maxLineBytes) throw new Error(`the result is larger than ${maxLineBytes / 1024 ** 2} MB`)
  } catch (error) {
    answer = JSON.stringify({ jsonrpc: '2.0', id, error: { code: errorCode, message: textOf(error) } })
  }
  open.delete(id)
  output.write(`${answer}\n`)
}

function textOf(error: unknown): string {
  return String(error instanceof Error ? error.message || error.name : error).slice(0, maxErrorCharacters)
}

/** The line of the extension where it went wrong. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? String(error.stack) : ''
  const line = [pathToFileURL(entry).href, entry].map((name) => stack.indexOf(`${name}:`)).find((at) => at >= 0)
  return line === undefined ? '' : ` (${/[^/\s:]+:\d+/.exec(stack.slice(line))?.[0]})`
}

/** What the code prints is logged. Errors are also printed: the kernel shows the last of them if the process ends. */
function logWrites(stream: NodeJS.WriteStream, level: string): void {
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean
  stream.write = (...given: unknown[]): boolean => {
    const [piece] = given
    kernel.log(level, (typeof piece === 'string' ? piece : Buffer.from(piece as Uint8Array).toString('utf8')).trimEnd())
    return write(...given)
  }
}
