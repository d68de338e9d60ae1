import { describe, expect, it, onTestFinished } from 'vitest'
import type { Json, ModelAbility, Tool } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { png, pngBase64 } from '../fixtures/pictures.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, asking, key, modelOf, server } from './turn.ts'

const camera: Tool = {
  name: 'weather',
  description: 'The forecast as a picture.',
  inputSchema: { type: 'object', properties: {} },
  execute: () => ({ ok: true, content: '', parts: [{ type: 'image', mediaType: 'image/png', data: png }] }),
}

/** A turn with a call that returns a picture: the second request. */
async function secondRequest(format: WireFormat, abilities?: readonly ModelAbility[]): Promise<Json> {
  const { url, reply, requests } = await server()
  for (const each of [asking, answering]) reply({ chunks: format.encode(each) })
  const model = await modelOf(format, { url })
  const runtime = createAgentRuntime({
    config: { agents: [{ name: 'clerk', description: 'Looks', prompt: 'Look.', model: model.id }], tools: [camera] },
    adapter: { secrets: { [format.keyVariable]: key }, resolve: () => (abilities ? { ...model, abilities } : model) },
    store: memoryStore(),
  })
  onTestFinished(() => runtime.close())
  expect(await runtime.run('Weather?')).toMatchObject({ status: 'completed' })
  return requests[1]?.body as Json
}

const image = { url: `data:image/png;base64,${pngBase64}` }
const line = expect.stringMatching(/^\[image\/png, \d+ B, handle b[0-9a-f]{32}\.image\.png\]$/)
const besideResult = { role: 'user', content: [{ type: 'text' }, { type: 'image_url', image_url: image }] }

/** What each API gets: the picture in the result, or in a user message after it. */
const expected: { readonly [name: string]: object } = {
  'Anthropic messages': {
    messages: [
      {},
      {},
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            content: [
              { type: 'text', text: line },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngBase64 } },
            ],
          },
        ],
      },
    ],
  },
  'OpenAI responses': {
    input: expect.arrayContaining([
      expect.objectContaining({
        type: 'function_call_output',
        output: [
          { type: 'input_text', text: line },
          { type: 'input_image', image_url: image.url },
        ],
      }),
    ]),
  },
  'OpenAI chat': { messages: [{}, {}, {}, { role: 'tool', content: line }, besideResult] },
  OpenRouter: { messages: [{}, {}, {}, { role: 'tool', content: line }, besideResult] },
  Ollama: { messages: [{}, {}, {}, { role: 'tool', content: line }, besideResult] },
  Gemini: {},
}

describe.each(formats)('a picture from a tool, for $name', (format) => {
  it('reaches a model that reads images', async () => {
    const body = await secondRequest(format)
    expect(body).toMatchObject(expected[format.name] ?? expect.unreachable(format.name))
    expect(JSON.stringify(body).split(pngBase64)).toHaveLength(2)
  })

  it('is a line of text for one that does not', async () => {
    const sent = JSON.stringify(await secondRequest(format, ['tools']))
    expect(sent).not.toContain(pngBase64.slice(0, 20))
    expect(sent).toMatch(/\[image\/png, \d+ B, handle b[0-9a-f]{32}\.image\.png\]/)
  })
})
