import type { MessagePiece, Model, ModelRequest, OutgoingMessage, Receipt, SessionService, Store, Tool } from '../../src/contracts/index.ts'
import { createRouter } from '../../src/kernel/router/create-router.ts'
import type { RouterOptions } from '../../src/kernel/router/router-core.ts'
import type { KernelDiagnostic, Publication } from '../../src/kernel/shared/kernel-types.ts'
import { type AgentRuntime, createAgentRuntime } from '../../src/runtime/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'

// A router on a real runtime with a scripted model, and a channel that records what it is given.

export class FakeChannel {
  readonly messages: { readonly userId: string; readonly message: OutgoingMessage }[] = []
  readonly pieces: { readonly userId: string; readonly piece: MessagePiece }[] = []
  /** Called before each message is taken. */
  before: (message: OutgoingMessage) => unknown = () => {}
  readonly #waiting: { readonly count: number; resolve(): void }[] = []
  readonly streamToUser?: (userId: string, piece: MessagePiece) => void

  constructor({ streams = true } = {}) {
    if (streams) this.streamToUser = (userId, piece) => void this.pieces.push({ userId, piece })
  }

  async sendToUser(userId: string, message: OutgoingMessage): Promise<void> {
    await this.before(message)
    this.messages.push({ userId, message })
    for (const { count, resolve } of this.#waiting) if (this.messages.length >= count) resolve()
  }

  /** `answer orchestrator: Hello`, in the order of delivery. */
  lines(userId?: string): readonly string[] {
    const own = this.messages.filter((each) => userId === undefined || each.userId === userId)
    return own.map(({ message: { kind, speaker, text } }) => `${kind} ${speaker}: ${text}`)
  }

  /** Resolves when so many messages were delivered in total. */
  async until(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ count, resolve })
    if (this.messages.length < count) await promise
  }
}

interface StageOptions {
  readonly tools?: readonly Tool[]
  /** Names of agents besides the orchestrator. */
  readonly agents?: readonly string[]
  readonly clock?: FakeClock
  /** The model pauses after each piece of a text until this resolves. */
  readonly afterPiece?: Promise<unknown>
  /** Called for each event. */
  readonly publish?: () => Promise<unknown>
  /** Replaces methods of the sessions. */
  readonly sessions?: (sessions: SessionService) => Partial<SessionService>
  readonly router?: Pick<RouterOptions, 'redactor' | 'isTrusted'>
}

/** One life of the process, which continues what the one before left. `stop` ends it; the next one gets the same store. */
export async function stage(store: Store, script: readonly ScriptedStepSource[], options: StageOptions = {}) {
  const { tools = [], clock = new FakeClock() } = options
  const model = new ScriptedModel(script)
  const agents = ['orchestrator', ...(options.agents ?? [])].map((name) => ({
    ...{ name, description: 'Talks', prompt: 'You help.', model: 'any', tools: tools.map((tool) => tool.name) },
  }))
  const runtime = createAgentRuntime({
    config: { agents, tools },
    adapter: slowly(model, options.afterPiece),
    store,
    approver: { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') },
  })
  const published: Publication[] = []
  const problems: KernelDiagnostic[] = []
  const router = createRouter({
    records: store.records,
    clock,
    ids: { next: () => crypto.randomUUID() },
    bus: {
      async publish(publication) {
        published.push(publication)
        await options.publish?.()
      },
    },
    report: (problem) => problems.push(problem),
    ...options.router,
  })
  const driven = driving(runtime)
  const sessions = { ...driven, ...options.sessions?.(driven) }
  await router.attach(sessions)
  for (const { treeId } of await store.trees.list({ status: ['running', 'suspended'] })) await runtime.open(treeId)
  const stop = async (): Promise<void> => {
    await router.close()
    await runtime.close()
  }
  return { router, sessions, clock, model, published, problems, stop }
}

/** Messages continue sessions of earlier lives, as in `troupe serve`. */
function driving(runtime: AgentRuntime): SessionService {
  const { sessions } = runtime
  const opened = async (sessionId: string, receipt: Promise<Receipt>): Promise<Receipt> => {
    const given = await receipt
    if (!given.driven) await runtime.open(sessionId)
    return given
  }
  return {
    ...sessions,
    send: (id, input, more) => opened(id, sessions.send(id, input, more)),
    approve: (id, answer) => opened(id, sessions.approve(id, answer)),
    cancel: (id, mode, by) => opened(id, sessions.cancel(id, mode, by)),
  }
}

const slowly = (model: Model, afterPiece?: Promise<unknown>): Model => ({
  id: model.id,
  abilities: model.abilities,
  async *stream(request, call) {
    for await (const part of model.stream(request, call)) {
      yield part
      if (part.type === 'text') await afterPiece
    }
  },
})

export const lastText = ({ messages }: ModelRequest): string => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return last.results.map(({ content }) => content).join('')
  return last?.role === 'user' ? last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
}
/** Answers with what the person said. */
export const echo = (request: ModelRequest) => ({ text: `You said: ${lastText(request)}` })
/** That answer, as a line of a channel. */
export const said = (text: string): string => `answer orchestrator: You said: ${text}`
export const message = (text: string, messageId?: string) => ({ userId: 'ann', text, ...(messageId !== undefined && { messageId }) })
