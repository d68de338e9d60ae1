import { describe, expect, it } from 'vitest'
import type { BlobId, Model, ModelPart, ModelRequest, PlanStep, Store, Tool, TreeId } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { asksForSummary, called, handlesIn, said, textOf, tokensOf } from './windows.ts'

const window = 10_000
const goal = 'Write every file of the archive anew, from 0 on, and never write one twice. The colour is heliotrope.'

/** A store that tells how much was put away in it. */
function countingStore(): { readonly store: Store; bytes: number; treeId: TreeId | undefined } {
  const inner = memoryStore()
  const counter = {
    bytes: 0,
    treeId: undefined as TreeId | undefined,
    store: {
      ...inner,
      blobs: {
        ...inner.blobs,
        put: (treeId: TreeId, text: string) => {
          counter.treeId = treeId
          counter.bytes += text.length
          return inner.blobs.put(treeId, text)
        },
      },
    },
  }
  return counter
}

const planAt = (step: number): readonly PlanStep[] => [
  { step: `Files up to ${step - (step % 50)}`, status: 'completed' },
  { step: `Files from ${step - (step % 50)} on, carefully`, status: 'in_progress' },
]

const object = { type: 'object', properties: {} }
const tools: readonly Tool[] = [
  { name: 'write', description: 'Writes a file.', inputSchema: object, execute: ({ file }) => `wrote ${String(file)}` },
  {
    name: 'look',
    description: 'Looks.',
    inputSchema: object,
    effect: 'read',
    execute: ({ at }) => `seen ${String(at)} ${'x'.repeat(2_500)}`,
  },
  {
    name: 'plan',
    description: 'Plans.',
    inputSchema: object,
    effect: 'idempotent',
    execute: ({ plan }, { updatePlan }) => {
      updatePlan({ steps: plan as unknown as readonly PlanStep[] })
      return 'planned'
    },
  },
]

/** Looks at each request that a run makes, and plays the model. */
class Witness implements Model {
  readonly id = 'witness/model'
  readonly abilities = ['tools'] as const
  readonly contextTokens = window
  readonly #steps: number
  readonly #counter: ReturnType<typeof countingStore>
  readonly #kept = new Map<string, bigint>()
  #step = 0
  #written = 0n
  summaries = 0
  tokens = 0

  constructor(steps: number, counter: ReturnType<typeof countingStore>) {
    this.#steps = steps
    this.#counter = counter
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const texts = request.messages.map(textOf)
    this.tokens += tokensOf(request)
    expect(tokensOf(request)).toBeLessThanOrEqual(window)
    expect(texts.filter((text) => text === goal)).toHaveLength(1)
    const all = texts.join('\n')
    if (this.#step > 0) expect(await this.#writtenIn(all)).toBe(this.#written)
    if (this.#step > 2) for (const { step } of planAt(this.#step - 1 - ((this.#step - 1) % 10))) expect(all).toContain(step)
    yield* asksForSummary(request) ? this.#sumUp() : this.#goOn()
  }

  #sumUp(): readonly ModelPart[] {
    this.summaries += 1
    return said(`So far ${this.#step} steps. ${'All is well. '.repeat(20)}`)
  }

  #goOn(): readonly ModelPart[] {
    const step = this.#step++
    if (step === this.#steps) return said('All is written.')
    if (step % 10 === 0) return called('plan', { plan: planAt(step) }, `p${step}`)
    if (step % 10 === 5) return called('look', { at: step }, `l${step}`)
    this.#written |= 1n << BigInt(step)
    return called('write', { file: `file-${step}.txt`, text: 'y'.repeat(step % 7 === 0 ? 400 : 40) }, `w${step}`)
  }

  /** Which files a request tells of, itself or by what it says where to read: one look is enough. */
  async #writtenIn(text: string): Promise<bigint> {
    const kept = await Promise.all(handlesIn(text).map((handle) => this.#writtenAt(handle)))
    return kept.reduce((all, found) => all | found, filesIn(text))
  }

  async #writtenAt(handle: string): Promise<bigint> {
    const known = this.#kept.get(handle)
    if (known !== undefined) return known
    const { store, treeId } = this.#counter
    const found = filesIn((await store.blobs.get(treeId as TreeId, handle as BlobId)) ?? expect.unreachable(`${handle} is not kept`))
    this.#kept.set(handle, found)
    return found
  }
}

function filesIn(text: string): bigint {
  let found = 0n
  for (const [, step] of text.matchAll(/file-(\d+)\.txt/g)) found |= 1n << BigInt(step ?? 0)
  return found
}

async function run(steps: number) {
  const counter = countingStore()
  const model = new Witness(steps, counter)
  const runtime = createAgentRuntime({
    config: {
      agents: [{ name: 'clerk', description: 'Writes', prompt: 'You are a clerk.', model: 'any' }],
      tools,
      limits: { maxToolTurns: 10 * steps },
    },
    adapter: model,
    store: counter.store,
  })
  const outcome = await runtime.run(goal)
  const events = await counter.store.journal.read(outcome.sessionId, 0)
  await runtime.close()
  return { outcome, model, events, bytes: counter.bytes }
}

const isFull = process.env.TROUPE_FULL !== undefined

describe('a long run', () => {
  const most = isFull ? 6_000 : 2_000
  it(`of ${most} steps keeps goal, plan and effects through compactions, within the window, at a steady price`, async () => {
    const half = await run(most / 2)
    const whole = await run(most)
    for (const { outcome } of [half, whole]) if (outcome.status !== 'completed') expect.fail(JSON.stringify(outcome.failure))
    expect(whole.outcome).toMatchObject({ status: 'completed', report: { text: 'All is written.' }, diagnostics: [] })
    expect(whole.model.summaries).toBeGreaterThan(most / 100)
    expect(whole.model.summaries).toBeLessThan(most / 5)
    const files = whole.events.flatMap((event) =>
      event.type === 'interaction.item.started' && event.item.kind === 'call' && event.item.tool === 'write' ? [event.item.input.file] : [],
    )
    expect(files).toHaveLength(new Set(files).size)
    // Twice the steps cost about twice as much.
    expect(whole.model.tokens / half.model.tokens).toBeLessThan(2.4)
    expect(whole.bytes / half.bytes).toBeLessThan(2.8)
  }, 120_000)
})
