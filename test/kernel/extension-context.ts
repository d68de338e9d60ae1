import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type {
  AgentResult,
  ExtensionAdmin,
  ExtensionContext,
  IncomingMessage,
  Json,
  JsonObject,
  MaybePromise,
  Recipient,
  ScheduledTask,
  StartAgentOptions,
  Tool,
  ToolContext,
  ToolOutput,
} from '../../src/contracts/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { schemaValidator } from '../../src/tools/index.ts'
import { workspaceTools } from '../../src/tools.ts'

export interface TestContextOptions {
  readonly id?: string
  readonly config?: JsonObject
  /** The data folder. Default: a new one. */
  readonly dataDir?: string
  readonly secrets?: { readonly [name: string]: string }
  readonly clock?: FakeClock
  readonly resolvedTools?: readonly Tool[]
  readonly extensions?: ExtensionAdmin
  /** Default: fails, because a test that starts an agent says what it answers. */
  readonly startAgent?: (task: string, options: StartAgentOptions) => MaybePromise<AgentResult>
  /** Replaces the built-in tools for the workspace. */
  readonly builtinTools?: ExtensionContext['builtinTools']
}

/** What an extension did with its context. */
export interface Recorded {
  readonly log: { readonly level: string; readonly message: string }[]
  readonly started: { readonly task: string; readonly options: StartAgentOptions }[]
  readonly messages: IncomingMessage[]
  readonly notices: { readonly text: string; readonly to?: Recipient }[]
  readonly published: { readonly name: string; readonly data: Json }[]
  readonly restarts: string[]
  readonly scheduled: ScheduledTask[]
}

export interface TestContext {
  readonly context: ExtensionContext
  readonly recorded: Recorded
  readonly clock: FakeClock
}

/** A context for one extension, without a kernel. Its folders are temporary. Call it inside a test. */
export function extensionContext(options: TestContextOptions = {}): TestContext {
  const { id = 'tested', clock = new FakeClock(), secrets = {} } = options
  const root = temporaryFolder()
  const [dataDir, workspace] = [options.dataDir ?? join(root, 'data'), join(root, 'project')]
  for (const folder of [dataDir, workspace]) mkdirSync(folder, { recursive: true })
  const recorded: Recorded = { log: [], started: [], messages: [], notices: [], published: [], restarts: [], scheduled: [] }
  const log = (level: string) => (message: string) => void recorded.log.push({ level, message })
  const refuse = (what: string) => () => Promise.reject(new Error(`this test has no ${what}`))
  const context: ExtensionContext = {
    id,
    config: options.config ?? {},
    folder: join(root, 'extension'),
    dataDir,
    workspace,
    resolvedTools: options.resolvedTools ?? [],
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    schedules: memorySchedules(recorded.scheduled, clock),
    ...(options.extensions && { extensions: options.extensions }),
    now: () => clock.now(),
    secret: (name) => secrets[name] ?? fail(`The secret ${name} is not set.`),
    builtinTools:
      options.builtinTools ??
      ((names, { folder = workspace } = {}) => {
        const { tools } = workspaceTools({ workspace: folder })
        return names.map((name) => tools.find((tool) => tool.name === name) ?? fail(`There is no built-in tool ${name}.`))
      }),
    startAgent: async (task, given = {}) => {
      recorded.started.push({ task, options: given })
      return (options.startAgent ?? refuse('answer of an agent'))(task, given)
    },
    invokeAgent: refuse('other agents'),
    onUserMessage: async (message) => void recorded.messages.push(message),
    notifyUser: async (text, to) => void recorded.notices.push({ text, ...(to && { to }) }),
    subscribe: () => fail('This test has no events.'),
    publish: async (name, data) => void recorded.published.push({ name, data }),
    getExtension: (other) => fail(`This test has no extension ${other}.`),
    requestRestart: async (reason) => void recorded.restarts.push(reason),
    requestShutdown: refuse('supervisor'),
  }
  return { context, recorded, clock }
}

/** A folder that is removed when the test has ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-extension-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const validator = schemaValidator()

/** Calls a tool as the runtime does: its input is checked against the schema first. */
export function callTool(tools: readonly Tool[], name: string, input: JsonObject = {}): Promise<ToolOutput> {
  const tool = tools.find((each) => each.name === name) ?? fail(`There is no tool ${name}.`)
  return execute(tool, input, new AbortController().signal)
}

export async function execute(tool: Tool, input: JsonObject, signal: AbortSignal): Promise<ToolOutput> {
  const checked = await (await validator.compile(tool.inputSchema))(input)
  if (!checked.ok) return { ok: false, error: { class: 'invalid_input', message: checked.problems.join('; ') } }
  const context: Partial<ToolContext> = { signal, overlay: {}, confinement: { kind: 'none' }, mayUse: () => true, maxOutputBytes: 32_768 }
  const output = await tool.execute(input, context as ToolContext)
  return typeof output === 'string' ? { ok: true, content: output } : output
}

function memorySchedules(tasks: ScheduledTask[], clock: FakeClock): ExtensionContext['schedules'] {
  return {
    async add({ id = `task-${tasks.length + 1}`, kind = 'task', ...task }) {
      if ('cron' in task.when && task.when.cron.trim().split(/\s+/).length < 5)
        throw new Error(`The cron expression "${task.when.cron}" is wrong.`)
      const added = { ...task, id, kind, nextAt: 'at' in task.when ? task.when.at : clock.now() + 60_000 }
      tasks.push(added)
      return added
    },
    list: async () => [...tasks],
    async cancel(id) {
      const index = tasks.findIndex((task) => task.id === id)
      if (index >= 0) tasks.splice(index, 1)
      return index >= 0
    },
  }
}

function fail(message: string): never {
  throw new Error(message)
}
