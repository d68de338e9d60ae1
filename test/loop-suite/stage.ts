import { onTestFinished } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import {
  type AgentDefinition,
  type AgentLimits,
  type AgentRuntime,
  createAgentRuntime,
  type Outcome,
  type RunInput,
  type StreamEvent,
  type Tool,
} from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, sequentialIds } from '../../src/testing/index.ts'
import { bounded, collect } from '../acceptance/support.ts'
import type { LoopAdapter, Played, PlayedReply, PlayOptions } from './conversation.ts'

export interface Setup extends PlayOptions {
  readonly replies: readonly PlayedReply[]
  /** What the second model of the agent says, where it has one. */
  readonly others?: readonly PlayedReply[]
  readonly tools?: readonly Tool[]
  readonly limits?: Partial<AgentLimits>
  readonly agent?: Pick<AgentDefinition, 'output' | 'parameters'>
  readonly store?: Store
}

export interface Stage {
  readonly runtime: AgentRuntime
  readonly clock: FakeClock
  readonly store: Store
  readonly played: Played
  readonly other: Played | undefined
}

/** The real loop around a model of the adapter, on a clock that stands still. */
export async function stage(adapter: LoopAdapter, setup: Setup): Promise<Stage> {
  const { replies, others, tools = [], limits = {}, agent = {}, costOf, store = memoryStore() } = setup
  const played = await opened(adapter, replies, costOf && { costOf })
  const other = others && (await opened(adapter, others))
  const clock = new FakeClock()
  const models: { readonly [name: string]: Played | undefined } = { 'the/first': played, 'the/second': other }
  const runtime = createAgentRuntime({
    config: {
      agents: [
        {
          name: 'clerk',
          description: 'Does things',
          prompt: 'You are a clerk.',
          models: other ? ['the/first', 'the/second'] : ['the/first'],
          ...agent,
        },
      ],
      tools,
      limits,
    },
    adapter: { resolve: (name) => models[name]?.model ?? unknownModel(name) },
    clock,
    store,
    ids: sequentialIds(),
  })
  onTestFinished(() => bounded(runtime.close(), 'close'))
  return { runtime, clock, store, played, other }
}

async function opened(adapter: LoopAdapter, replies: readonly PlayedReply[], options?: PlayOptions): Promise<Played> {
  const played = await adapter.play(replies, options)
  onTestFinished(() => played.close?.())
  return played
}

function unknownModel(name: string): never {
  throw new Error(`nobody plays ${name}`)
}

export interface Ran extends Stage {
  readonly outcome: Outcome
  readonly events: readonly StreamEvent[]
}

/** One turn to its end. */
export async function ran(adapter: LoopAdapter, setup: Setup, input: RunInput = 'Go.'): Promise<Ran> {
  const staged = await stage(adapter, setup)
  const handle = staged.runtime.stream(input)
  const events = await bounded(collect(handle), 'the turn')
  return { ...staged, events, outcome: await handle.outcome }
}

/** A tool that looks something up and notes what it was asked. */
export function look(asked: unknown[] = [], execute?: Tool['execute']): Tool {
  return {
    name: 'look',
    description: 'Looks something up.',
    effect: 'read',
    concurrency: 'shared',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false },
    execute(input, context) {
      asked.push(input)
      return execute ? execute(input, context) : `found ${input.q}`
    },
  }
}

export const lookCall = (q: string, id = `call_${q}`) => ({ id, name: 'look', input: { q, reason: 'to know' } })

/** A request as text, to see whether something is in it and where. */
export const textIn = (request: unknown): string => JSON.stringify(request)
