import { describe, expect, onTestFinished, test } from 'vitest'
import type { JsonObject, Model } from '../../src/contracts/index.ts'
import { fromLangChain, fromLlamaIndex } from '../../src/models/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/testing/index.ts'

// A provider may say that its reply has ended in calls, and yet have broken off their arguments.

type Reply = { readonly args: string } | { readonly text: string }

/** The text of the arguments in pieces, as models write it. */
const pieces = (text: string): readonly string[] => text.match(/.{1,5}/gs) ?? []

function chunksOfLangChain(reply: Reply): readonly object[] {
  if ('text' in reply) return [{ content: reply.text, response_metadata: { finish_reason: 'stop' } }]
  const calls = pieces(reply.args).map((args, at) => ({
    content: '',
    tool_call_chunks: [{ index: 0, args, ...(at === 0 && { id: 'c1', name: 'wipe' }) }],
  }))
  return [...calls, { content: '', response_metadata: { finish_reason: 'tool_calls' } }]
}
function chunksOfLlamaIndex(reply: Reply): readonly object[] {
  if ('text' in reply) return [{ delta: reply.text, raw: { choices: [{ finish_reason: 'stop' }] } }]
  const call = (input: string) => ({ delta: '', options: { toolCall: [{ id: 'c1', name: 'wipe', input }] }, raw: { choices: [{}] } })
  const whole = pieces(reply.args).map((_, at, all) => call(all.slice(0, at + 1).join('')))
  return [...whole, { delta: '', raw: { choices: [{ finish_reason: 'tool_calls' }] } }]
}

const playing = (chunksOf: (reply: Reply) => readonly object[], replies: readonly Reply[]) => {
  const left = [...replies]
  return async function* () {
    yield* chunksOf(left.shift() ?? expect.unreachable('asked too often'))
  }
}
const frameworks: readonly (readonly [string, (replies: readonly Reply[]) => Model])[] = [
  [
    'LangChain',
    (replies) => {
      const stream = playing(chunksOfLangChain, replies)
      return fromLangChain({ stream, bindTools: () => ({ stream }) } as unknown as Parameters<typeof fromLangChain>[0])
    },
  ],
  [
    'LlamaIndex',
    (replies) =>
      fromLlamaIndex({ chat: playing(chunksOfLlamaIndex, replies), supportToolCall: true } as unknown as Parameters<
        typeof fromLlamaIndex
      >[0]),
  ],
]

describe.each(frameworks)('%s', (_name, modelOf) => {
  async function ran(args: string): Promise<readonly JsonObject[]> {
    const inputs: JsonObject[] = []
    const model = modelOf([{ args }, { text: 'Done.' }])
    const runtime = createAgentRuntime({
      config: {
        agents: [{ name: 'a', description: 'd', prompt: 'p', model: 'm', limits: { maxRetries: 0 } }],
        tools: [
          {
            name: 'wipe',
            description: 'Wipes a path.',
            inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
            execute: (input) => `${inputs.push(input)}`,
          },
        ],
      },
      adapter: { resolve: () => model },
      clock: new FakeClock(),
    })
    onTestFinished(() => runtime.close())
    expect(await runtime.run('Go')).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    return inputs
  }

  test('a whole call runs', async () => {
    expect(await ran('{"path": "/home/ada/project", "reason": "r"}')).toEqual([{ path: '/home/ada/project' }])
  })

  test.each(['{"path": "/home/ada/proj', '{"path": "/home/ada"', '{"path": "/home/ada",', '{"path":', '{'])(
    'a call that was broken off at %j does not run, and is handed on as it was written',
    async (args) => {
      expect(await ran(args)).toEqual([])
      const parts = []
      const request = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
      for await (const part of modelOf([{ args }]).stream(request, { signal: new AbortController().signal })) parts.push(part)
      expect(parts.filter(({ type }) => type === 'call')).toEqual([{ type: 'call', id: 'c1', name: 'wipe', input: args }])
    },
  )
})
