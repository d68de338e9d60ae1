import type {
  AgentResult,
  BusEvent,
  ExtensionContext,
  ExtensionLogger,
  JsonObject,
  MaybePromise,
  ScheduledTask,
  Tool,
  ToolOutput,
} from '../../../contracts/index.ts'
import type { KernelPort } from './kernel-port.ts'

/** What `initialize` brings. */
export interface ContextFacts extends Pick<ExtensionContext, 'id' | 'config' | 'folder' | 'dataDir' | 'workspace'> {
  readonly tools: readonly Pick<Tool, 'name' | 'description' | 'inputSchema'>[]
}

export interface ProcessContext {
  readonly context: ExtensionContext
  deliver(subscription: number, event: BusEvent): MaybePromise<void>
}

/** The context of an extension that runs in a process of its own. */
export function processContext({ tools, ...facts }: ContextFacts, kernel: KernelPort): ProcessContext {
  const handlers = new Map<number, (event: BusEvent) => MaybePromise<void>>()
  let subscriptions = 0
  const context: ExtensionContext = {
    ...facts,
    logger: loggerOf(kernel),
    resolvedTools: tools.map((tool) => ({
      ...tool,
      execute: (input, call) => kernel.request('callTool', { name: tool.name, input }, call?.signal) as Promise<ToolOutput>,
    })),
    schedules: {
      add: (task) => kernel.request('addSchedule', { task }) as Promise<ScheduledTask>,
      list: () => kernel.request('listSchedules', {}) as Promise<readonly ScheduledTask[]>,
      cancel: (id) => kernel.request('cancelSchedule', { id }) as Promise<boolean>,
    },
    now: () => Date.now(),
    startAgent: (task, { signal, ...options } = {}) => kernel.request('startAgent', { task, options }, signal) as Promise<AgentResult>,
    invokeAgent: (id, task, given) => kernel.request('invokeAgent', { id, task, context: given }) as Promise<AgentResult>,
    onUserMessage: async (message) => void (await kernel.request('onUserMessage', { message })),
    notifyUser: async (text, to) => void (await kernel.request('notifyUser', { text, to })),
    publish: async (name, data, options) => void (await kernel.request('publish', { name, data, options })),
    subscribe(name, handler) {
      const subscription = ++subscriptions
      handlers.set(subscription, handler)
      kernel.notify('subscribe', { subscription, name })
      return () => {
        if (handlers.delete(subscription)) kernel.notify('unsubscribe', { subscription })
      }
    },
    ...trustedOnly(facts.id),
  }
  return { context, deliver: (subscription, event) => handlers.get(subscription)?.(event) }
}

export const trustedOnlyText = 'is only for trusted extensions'

type TrustedOnly = Pick<ExtensionContext, 'secret' | 'builtinTools' | 'getExtension' | 'requestRestart' | 'requestShutdown'>

function trustedOnly(id: string): TrustedOnly {
  const refuse = (what: string): never => {
    throw new Error(`${what} ${trustedOnlyText}. Run: troupe extensions trust ${id}`)
  }
  return {
    secret: (name) => refuse(`The secret ${name}`),
    builtinTools: () => refuse('`builtinTools`'),
    getExtension: () => refuse('`getExtension`'),
    requestRestart: async () => refuse('`requestRestart`'),
    requestShutdown: async () => refuse('`requestShutdown`'),
  }
}

function loggerOf(kernel: KernelPort): ExtensionLogger {
  const at = (level: keyof ExtensionLogger) => (message: string, fields?: JsonObject) => kernel.log(level, message, fields)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
