// Extensions in processes of their own, for tests: their source is a text.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentResult, AnyExtension, BusEvent, Clock, ExtensionContext, Json, ToolContext } from '../../../src/contracts/index.ts'
import { foundExtension } from '../../../src/kernel/loader/fixtures/test-kernel.ts'
import { hashFolder } from '../../../src/kernel/loader/hash-folder.ts'
import type { ExtensionSandbox } from '../../../src/kernel/process/extension-sandbox.ts'
import { openInSandbox } from '../../../src/kernel/process/open-in-sandbox.ts'
import type { ExtensionManifest, FoundExtension, OpenedExtension } from '../../../src/kernel/shared/kernel-types.ts'
import { startUnsandboxed } from '../../../src/tools/sandbox/index.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** Plain child processes: the protocol is the same. */
export const withoutSandbox: Pick<ExtensionSandbox, 'start'> = {
  async start(_, { argv, dataDir }) {
    mkdirSync(dataDir, { recursive: true })
    const environment = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }
    return { ok: true, running: await startUnsandboxed({ argv, cwd: dataDir, environment, isPiped: true }, realClock) }
  },
}

export interface Stage {
  /** The project. */
  readonly root: string
  readonly dataFolder: string
  write(path: string, text: string): void
  /** Writes `extensions/ID/main.js`. */
  add(id: string, source: string, manifest?: Partial<ExtensionManifest>): FoundExtension & { readonly manifest: ExtensionManifest }
  open(source: string, options?: OpenOptions): Promise<OpenedExtension>
  /** Closes what was opened, and removes all files. */
  remove(): Promise<void>
}

export interface OpenOptions {
  readonly id?: string
  readonly manifest?: Partial<ExtensionManifest>
  readonly clock?: Clock
  readonly sandbox?: Pick<ExtensionSandbox, 'start'>
}

export function extensionStage(base = tmpdir()): Stage {
  const folder = realpathSync(mkdtempSync(join(base, 'troupe-process-')))
  const root = join(folder, 'project')
  const dataFolder = join(folder, 'data')
  const opened: OpenedExtension[] = []
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const add: Stage['add'] = (id, source, manifest = {}) => {
    write(`extensions/${id}/main.js`, source)
    const folder = join(root, 'extensions', id)
    const found = foundExtension(id, manifest as never, { folder, trusted: false, hash: hashFolder(folder).hash })
    return found as ReturnType<Stage['add']>
  }
  return {
    root,
    dataFolder,
    write,
    add,
    async open(source, { id = 'guest', manifest = {}, clock = realClock, sandbox = withoutSandbox } = {}) {
      const open = openInSandbox({ sandbox, clock, dataDir: (each) => join(dataFolder, each) })
      const result = await open(add(id, source, manifest))
      opened.push(result)
      return result
    },
    async remove() {
      await Promise.all(opened.map((each) => each.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A class `Main` with these members. */
export const main = (members: string, before = ''): string => `${before}\nexport class Main {\n${members}\n}\n`

/** A class `Main` with one tool `do` whose code is `body`. `context` is the context of the extension. */
export const withTool = (body: string, before = ''): string =>
  main(
    `initialize(context) { this.context = context }
     getTools() {
       return [{ name: 'do', description: 'Do', inputSchema: { type: 'object' }, execute: async (input, call) => { const { context } = this; ${body} } }]
     }`,
    before,
  )

export interface RecordedContext extends ExtensionContext {
  readonly calls: (readonly [method: string, ...given: readonly unknown[]])[]
  readonly handlers: Map<string, (event: BusEvent) => unknown>
}

/** Records what the extension does with it. */
export function recordedContext(given: Partial<ExtensionContext> = {}): RecordedContext {
  const calls: RecordedContext['calls'] = []
  const handlers: RecordedContext['handlers'] = new Map()
  const record =
    (method: string, result?: unknown) =>
    (...args: readonly unknown[]): never => {
      calls.push([method, ...args])
      return result as never
    }
  const answer: AgentResult = { status: 'completed', content: 'answer' }
  return {
    calls,
    handlers,
    id: 'guest',
    config: { color: 'blue' },
    folder: '/folder',
    dataDir: '/data',
    workspace: '/workspace',
    resolvedTools: [],
    logger: { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') },
    schedules: {
      add: record('add', Promise.resolve({ id: 's1', task: 't', when: { at: 1 }, nextAt: 1 })),
      list: record('list', Promise.resolve([])),
      cancel: record('cancel', Promise.resolve(true)),
    },
    now: () => 0,
    secret: record('secret'),
    builtinTools: record('builtinTools'),
    startAgent: record('startAgent', Promise.resolve(answer)),
    invokeAgent: record('invokeAgent', Promise.resolve(answer)),
    onUserMessage: record('onUserMessage', Promise.resolve()),
    notifyUser: record('notifyUser', Promise.resolve()),
    subscribe: (name, handler) => {
      calls.push(['subscribe', name])
      handlers.set(name, handler)
      return () => handlers.delete(name)
    },
    publish: record('publish', Promise.resolve()),
    getExtension: record('getExtension'),
    requestRestart: record('requestRestart', Promise.resolve()),
    requestShutdown: record('requestShutdown', Promise.resolve()),
    ...given,
  }
}

export const toolContext = (given: Partial<ToolContext> = {}): ToolContext =>
  ({
    signal: new AbortController().signal,
    callId: 'c1',
    attempt: 1,
    remaining: { steps: 1 },
    mayUse: () => true,
    progress() {},
    output() {},
    ...given,
  }) as ToolContext

/** Initializes it, and runs its tool `do`. */
export async function runTool(
  instance: AnyExtension,
  input: { readonly [key: string]: Json } = {},
  { call = toolContext(), context = recordedContext() } = {},
) {
  await instance.initialize?.(context)
  const [tool] = (await instance.getTools?.()) ?? []
  if (!tool) throw new Error('it has no tool')
  return tool.execute(input, call)
}
