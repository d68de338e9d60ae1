import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll } from 'vitest'
import type { Model } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { clerk, pay, weather } from './openai-support.ts'
import { localToken, type Served, serve } from './support.ts'

// A client of Anthropic's Messages API that brings tools. The tests of a file share a server; each has its own script.

export interface ToolScene {
  readonly served: Served
  readonly client: Anthropic
  clientOf(apiKey: string): Anthropic
  /** The script of the next requests. */
  script(...steps: readonly ScriptedStepSource[]): ScriptedModel
  count(): Promise<number>
}

/** `mixed` has tools of its own and takes those of clients; `closed` does not take them. */
export function toolScene(): ToolScene {
  let model = new ScriptedModel([])
  const relay: Model = {
    id: 'scripted/model',
    abilities: ['tools', 'images', 'files', 'reasoning'],
    stream: (request, context) => model.stream(request, context),
  }
  const base = { ...clerk, limits: { maxRetries: 0 } }
  const agents = [
    base,
    { ...base, name: 'mixed', tools: ['weather', 'pay'], clientTools: 'allow' },
    { ...base, name: 'closed', tools: ['weather'] },
  ] as const
  let served: Served
  beforeAll(async () => {
    served = await serve({ agents, tools: [weather, pay], model: relay, routes: () => anthropicRoutes({ clock: systemClock }) })
  })
  afterAll(() => served.close())
  const clientOf = (apiKey: string): Anthropic => new Anthropic({ apiKey, baseURL: served.url, maxRetries: 0 })
  return {
    get served() {
      return served
    },
    get client() {
      return clientOf(localToken)
    },
    clientOf,
    script(...steps) {
      model = new ScriptedModel(steps)
      return model
    },
    count: async () => (await served.runtime.sessions.list({ limit: 1000 })).length,
  }
}

export const toolOf = (name: string, more: object = {}): Anthropic.Tool => ({
  name,
  description: `Does ${name}.`,
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  ...more,
})

export const edit = toolOf('Edit')
const question: Anthropic.MessageParam = { role: 'user', content: 'Fix it.' }
export const ask = {
  model: 'clerk',
  max_tokens: 1000,
  messages: [question],
  tools: [edit, toolOf('Bash')],
} satisfies Anthropic.MessageCreateParams

export const callsOf = ({ content }: Anthropic.Message): readonly Anthropic.ToolUseBlock[] =>
  content.filter((block) => block.type === 'tool_use')
export const textOf = ({ content }: Anthropic.Message): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('|')

export const resultOf = (
  call: { readonly id: string } | undefined,
  content: Anthropic.ToolResultBlockParam['content'] = 'ok',
  more: object = {},
): Anthropic.ToolResultBlockParam => ({ type: 'tool_result', tool_use_id: call?.id ?? '', content, ...more })

/** The messages of the next request: the answer, and a message of the user. */
export const returning = (
  answer: Anthropic.Message,
  blocks: readonly Anthropic.ContentBlockParam[],
  before: readonly Anthropic.MessageParam[] = [question],
): Anthropic.MessageParam[] => [...before, { role: 'assistant', content: answer.content }, { role: 'user', content: [...blocks] }]
