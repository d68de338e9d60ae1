/* Issue 3, Deliver 1: images and files as input, reasoning settings, prompt-cache marks, what providers want back. */
// biome-ignore-all lint/complexity/useMaxParams: the columns of a table of cases
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AgentDefinition, createAgentRuntime, type InputPart, type ModelParameters, type Tool } from '../../src/index.ts'
import { modelAdapter } from '../../src/models/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { bounded, collect, durable, ofType } from './support.ts'
import {
  type Answer,
  anthropic,
  gemini,
  lab,
  ollama,
  openAiChat,
  openAiResponses,
  openRouter,
  optionsFor,
  provider,
  reply,
  type Wire,
} from './wire.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')
const tool: Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  inputSchema: { type: 'object', properties: {} },
  effect: 'read',
  execute: () => 'found',
}

async function ask(wire: Wire, input: string | readonly InputPart[], more: Partial<AgentDefinition> = {}, replies?: readonly Answer[]) {
  const server = await provider(...(replies ?? [reply(wire, { text: 'Hello.' })]))
  const runtime = createAgentRuntime({
    clock: new FakeClock(),
    adapter: modelAdapter(optionsFor(wire, server.url)),
    config: {
      agents: [{ name: 'clerk', description: 'd', prompt: 'You are a clerk.', model: wire.model, limits: { maxRetries: 0 }, ...more }],
      tools: [tool],
    },
  })
  onTestFinished(() => runtime.close())
  const handle = runtime.stream(input)
  const events = await bounded(collect(handle))
  return { bodies: server.asked.map(({ body }) => body), events, outcome: await handle.outcome }
}
const parts = (...list: readonly InputPart[]): readonly InputPart[] => [{ type: 'text', text: 'What is this?' }, ...list]
const image: InputPart = { type: 'image', mediaType: 'image/png', data: png }

describe('an image as input', () => {
  test.each([
    [
      'OpenAI chat',
      openAiChat,
      (b: Any) => b.messages[1].content[1],
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ],
    [
      'OpenAI responses',
      openAiResponses,
      (b: Any) => b.input[1].content[1],
      { type: 'input_image', image_url: `data:image/png;base64,${png}` },
    ],
    [
      'Anthropic',
      anthropic,
      (b: Any) => b.messages[0].content[1],
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    ],
    ['Gemini', gemini, (b: Any) => b.contents[0].parts[1], { inlineData: { mimeType: 'image/png', data: png } }],
    [
      'OpenRouter',
      openRouter,
      (b: Any) => b.messages[1].content[1],
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ],
    ['Ollama', ollama, (b: Any) => b.messages[1].content[1], { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
  ] as const)('goes to %s in its own form, behind the text', async (_, wire, pick, expected) => {
    const { bodies, outcome } = await ask(wire, parts(image))
    expect(outcome.status).toBe('completed')
    expect(pick(bodies[0])).toMatchObject(expected)
    expect(JSON.stringify(bodies[0])).toContain('What is this?')
  })
  test('as a data: URL it is the same', async () => {
    for (const wire of [openAiChat, anthropic, gemini]) {
      const [plain, url] = await Promise.all(
        [image, { ...image, data: `data:image/png;base64,${png}` } as InputPart].map(
          async (part) => (await ask(wire, parts(part))).bodies[0],
        ),
      )
      expect(url).toEqual(plain)
    }
  })
  test('an https: address goes to the provider as it is: nobody here fetches it', async () => {
    const url = 'https://pictures.invalid/cat.png'
    const part: InputPart = { type: 'image', mediaType: 'image/png', data: url }
    expect((await ask(openAiChat, parts(part))).bodies[0].messages[1].content[1]).toMatchObject({ image_url: { url } })
    expect((await ask(anthropic, parts(part))).bodies[0].messages[0].content[1]).toMatchObject({ source: { type: 'url', url } })
  })
})

describe('a file as input', () => {
  const file: InputPart = { type: 'file', mediaType: 'application/pdf', data: pdf, name: 'offer.pdf' }
  test('goes to OpenAI chat with its name', async () => {
    expect((await ask(openAiChat, parts(file))).bodies[0].messages[1].content[1]).toEqual({
      type: 'file',
      file: { filename: 'offer.pdf', file_data: `data:application/pdf;base64,${pdf}` },
    })
  })
  test('goes to OpenAI responses with its name', async () => {
    expect((await ask(openAiResponses, parts(file))).bodies[0].input[1].content[1]).toEqual({
      type: 'input_file',
      filename: 'offer.pdf',
      file_data: `data:application/pdf;base64,${pdf}`,
    })
  })
  test('goes to Anthropic as a document', async () => {
    expect((await ask(anthropic, parts(file))).bodies[0].messages[0].content[1]).toMatchObject({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf },
    })
  })
  test('goes to Gemini inline', async () => {
    expect((await ask(gemini, parts(file))).bodies[0].contents[0].parts[1]).toEqual({
      inlineData: { mimeType: 'application/pdf', data: pdf },
    })
  })
  test('a kind that a provider cannot read is a typed failure with a remedy, and nothing is sent', async () => {
    const video: InputPart = { type: 'file', mediaType: 'video/x-unheard-of', data: pdf }
    for (const wire of [openAiChat, anthropic]) {
      const { bodies, outcome } = await ask(wire, parts(video))
      expect(outcome).toMatchObject({
        status: 'failed',
        failure: { class: expect.stringMatching(/config|model/), remedy: expect.any(String) },
      })
      expect(bodies).toEqual([])
    }
  })
  test('files and images stay in the history of further turns', async () => {
    const { bodies } = await ask(anthropic, parts(image, file), {}, [
      reply(anthropic, { calls: [{ id: 'c1', name: 'look_up', input: { reason: 'r' } }] }),
      reply(anthropic, { text: 'Done.' }),
    ])
    expect(bodies[1].messages[0].content.map((each: Any) => each.type)).toEqual(['text', 'image', 'document'])
  })
})

describe('reasoning settings', () => {
  const bodyWith = async (wire: Wire, parameters: ModelParameters, model = wire.model) => {
    const { bodies, outcome } = await ask({ ...wire, model }, 'Hi', { parameters })
    return { body: bodies[0], outcome }
  }
  test('reach OpenAI responses', async () => {
    expect((await bodyWith(openAiResponses, { reasoning: 'low' }, 'openai/gpt-5-mini')).body).toMatchObject({
      reasoning: { effort: 'low' },
    })
  })
  test('reach OpenAI chat', async () => {
    expect((await bodyWith(openAiChat, { reasoning: 'high' }, 'openai/gpt-5-mini')).body).toMatchObject({ reasoning_effort: 'high' })
  })
  test('reach Anthropic as a budget of thoughts that leaves room for the answer', async () => {
    const { body } = await bodyWith(anthropic, { reasoning: 'medium', maxOutputTokens: 8000 })
    expect(body.thinking).toMatchObject({ type: 'enabled', budget_tokens: expect.any(Number) })
    expect(body.thinking.budget_tokens).toBeGreaterThanOrEqual(1024)
    expect(body.max_tokens).toBeGreaterThan(body.thinking.budget_tokens)
  })
  test('more effort is a larger budget, none is no thinking', async () => {
    const low = (await bodyWith(anthropic, { reasoning: 'low' })).body.thinking.budget_tokens
    const high = (await bodyWith(anthropic, { reasoning: 'high' })).body.thinking.budget_tokens
    expect(high).toBeGreaterThan(low)
    expect((await bodyWith(anthropic, { reasoning: 'none' })).body.thinking?.type ?? 'disabled').toBe('disabled')
  })
  test('reach Gemini', async () => {
    const { body } = await bodyWith(gemini, { reasoning: 'low' })
    expect(body.generationConfig.thinkingConfig).toEqual(expect.any(Object))
  })
  test('reach OpenRouter', async () => {
    const { body } = await bodyWith(openRouter, { reasoning: 'low' })
    expect(body.reasoning?.effort ?? body.reasoning_effort).toBe('low')
  })
  test('reach a compatible server', async () => {
    expect((await bodyWith(lab, { reasoning: 'low' })).body).toMatchObject({ reasoning_effort: 'low' })
  })
  test('for a model that cannot think they are left out and told, or sent: never an error of ours', async () => {
    const { outcome } = await bodyWith(openAiResponses, { reasoning: 'high' })
    expect(outcome.status).toBe('completed')
  })
})

describe('prompt-cache marks', () => {
  const marks = (value: unknown): number => JSON.stringify(value).split('"cache_control"').length - 1
  const twoSteps = [
    reply(anthropic, { calls: [{ id: 'c1', name: 'look_up', input: { reason: 'r' } }] }),
    reply(anthropic, { text: 'Done.' }),
  ]
  test('Anthropic gets them on the system text and on the end of the conversation, at most four', async () => {
    const { bodies } = await ask(anthropic, 'Hi', {}, twoSteps)
    expect(marks(bodies[0].system)).toBe(1)
    expect(marks(bodies[0].messages.at(-1))).toBe(1)
    expect(marks(bodies[1].messages.at(-1))).toBe(1)
    for (const body of bodies) expect(marks(body)).toBeLessThanOrEqual(4)
  })
  test('what the next request has in common with the last is the same to the letter', async () => {
    const { bodies } = await ask(anthropic, 'Hi', {}, twoSteps)
    const bare = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (key, inner) => (key === 'cache_control' ? undefined : inner)))
    expect(bodies[1].system).toEqual(bodies[0].system)
    expect(bodies[1].tools).toEqual(bodies[0].tools)
    expect(bare(bodies[1].messages.slice(0, 1))).toEqual(bare(bodies[0].messages))
  })
  test('`cache: false` leaves them out', async () => {
    const { bodies } = await ask(anthropic, 'Hi', { parameters: { cache: false } })
    expect(marks(bodies[0])).toBe(0)
  })
  test('others get none: they find the prefix themselves', async () => {
    for (const wire of [openAiChat, openAiResponses, gemini]) expect(marks((await ask(wire, 'Hi')).bodies[0])).toBe(0)
  })
  test('what was read from and written to a cache is in the usage, within the input', async () => {
    const { list } = anthropic.events({ text: 'Hello.' })
    const usage = { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 50, output_tokens: 1 }
    const body = list.join('').replace('"usage":{"input_tokens":10,"output_tokens":1}', `"usage":${JSON.stringify(usage)}`)
    const { outcome } = await ask(anthropic, 'Hi', {}, [{ body }])
    expect(outcome.usage).toMatchObject({ input: 160, cacheRead: 100, cacheWrite: 50 })
  })
})

describe('what a provider attaches to its reply goes back to it untouched', () => {
  const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
  test('the signature of a thought of Anthropic', async () => {
    const { list } = anthropic.events({ calls: [{ id: 'c1', name: 'look_up', input: { reason: 'r' } }] })
    const shifted = list.map((each) => each.replace('"index":0', '"index":1'))
    const thought = [
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Let me see.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'SIG==' } },
      { type: 'content_block_stop', index: 0 },
    ].map(event)
    const body = [shifted[0], ...thought, ...shifted.slice(1)].join('')
    const { bodies, events } = await ask(anthropic, 'Hi', { parameters: { reasoning: 'low' } }, [
      { body },
      reply(anthropic, { text: 'Done.' }),
    ])
    expect(bodies[1].messages[1].content[0]).toMatchObject({ type: 'thinking', thinking: 'Let me see.', signature: 'SIG==' })
    const reasoning = ofType(durable(events), 'interaction.item.completed').find(({ item }) => item.type === 'reasoning')
    expect(reasoning?.item).toMatchObject({ text: 'Let me see.' })
    expect(ofType(events, 'interaction.item.delta').some(({ kind, text }) => kind === 'reasoning' && text === 'Let me see.')).toBe(true)
  })
  test('the signature of a thought of Gemini', async () => {
    const { list } = gemini.events({ calls: [{ id: 'c1', name: 'look_up', input: { reason: 'r' } }] })
    const body = list.join('').replace('{"functionCall":', '{"thoughtSignature":"SIG==","functionCall":')
    const { bodies } = await ask(gemini, 'Hi', {}, [{ body }, reply(gemini, { text: 'Done.' })])
    expect(bodies[1].contents[1].parts).toMatchObject([{ functionCall: { name: 'look_up' }, thoughtSignature: 'SIG==' }])
  })
  test('the encrypted thought of OpenAI, which keeps nothing itself', async () => {
    const { list } = openAiResponses.events({ calls: [{ id: 'c1', name: 'look_up', input: { reason: 'r' } }] })
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'CRYPT==' }
    const thought = [
      event({ type: 'response.output_item.added', output_index: 9, item: { ...item, encrypted_content: '' } } as never),
      event({ type: 'response.output_item.done', output_index: 9, item } as never),
    ]
    const body = [...list.slice(0, 2), ...thought, ...list.slice(2)].join('')
    const { bodies } = await ask({ ...openAiResponses, model: 'openai/gpt-5-mini' }, 'Hi', { parameters: { reasoning: 'low' } }, [
      { body },
      reply(openAiResponses, { text: 'Done.' }),
    ])
    expect(bodies[0]).toMatchObject({ store: false, include: expect.arrayContaining(['reasoning.encrypted_content']) })
    expect(bodies[1].input).toContainEqual(expect.objectContaining({ type: 'reasoning', encrypted_content: 'CRYPT==' }))
  })
})

// biome-ignore lint/suspicious/noExplicitAny: bodies of requests
type Any = any
