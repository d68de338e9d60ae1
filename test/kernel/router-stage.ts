import type { MessagePiece, OutgoingMessage, SessionService, Store, Tool } from '../../src/contracts/index.ts'
import type { Bus, KernelDiagnostic, Publication } from '../../src/kernel/kernel-types.ts'
import { createRouter } from '../../src/kernel/router/create-router.ts'
import { createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource, sequentialIds } from '../../src/testing/index.ts'

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

interface StageOptions extends Partial<Pick<RuntimeOptions, 'approver'>> {
  readonly tools?: readonly Tool[]
  readonly clock?: FakeClock
  readonly bus?: boolean
  sessions?(sessions: SessionService): SessionService
}

/** One life of the process. `stop` ends it; the next one gets the same store. */
export async function stage(store: Store, script: readonly ScriptedStepSource[], options: StageOptions = {}) {
  const clock = options.clock ?? new FakeClock()
  const { tools = [] } = options
  const model = new ScriptedModel(script)
  const agent = { name: 'orchestrator', description: 'Talks', prompt: 'You help.', model: 'any', tools: tools.map(({ name }) => name) }
  const runtime = createAgentRuntime({
    config: { agents: [agent], tools },
    adapter: model,
    store,
    ...(options.approver && { approver: options.approver }),
  })
  const published: Publication[] = []
  const bus: Pick<Bus, 'publish'> = { publish: async (publication) => void published.push(publication) }
  const problems: KernelDiagnostic[] = []
  const router = createRouter({
    records: store.records,
    clock,
    ids: sequentialIds(`life-${Math.random()}`),
    bus,
    report: (problem) => problems.push(problem),
  })
  const sessions = options.sessions?.(runtime.sessions) ?? runtime.sessions
  await router.attach(sessions)
  const stop = async (): Promise<void> => {
    await router.close()
    await runtime.close()
  }
  return { router, runtime, sessions, clock, model, published, problems, stop }
}
