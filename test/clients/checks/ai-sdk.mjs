import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import * as ai from 'ai'
import { generateObject, generateText, streamText, tool } from 'ai'
import { z } from 'zod'
import { apiKey, assert, check, has, joined, url } from './check.mjs'

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey })
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey })
const models = { chat: openai.chat, responses: openai.responses, anthropic }

/** Errors of a stream are otherwise printed only. */
const streamed = (options) => {
  let failure
  const result = streamText({
    ...options,
    onError({ error }) {
      failure = error
    },
  })
  return joined(result.textStream).then((text) => {
    if (failure) throw failure
    return text
  })
}

for (const [name, model] of Object.entries(models)) {
  await check(`${name} generateText`, async () => {
    const { text, usage, finishReason } = await generateText({ model: model('clerk'), prompt: 'Hello' })
    has(text, 'Hello from the clerk.')
    assert.equal(finishReason, 'stop')
    assert.ok((usage.outputTokens ?? usage.completionTokens) > 0)
  })
  await check(`${name} streamText`, async () => has(await streamed({ model: model('clerk'), prompt: 'Hello' }), 'Hello from the clerk.'))
  await check(`${name} agent with calls`, async () => {
    has((await generateText({ model: model('team'), prompt: 'Ask' })).text, 'The helper said 42.')
    has(await streamed({ model: model('team'), prompt: 'Ask' }), 'The helper said 42.')
  })
  await check(`${name} conversation`, async () => {
    const first = await generateText({ model: model('team'), prompt: 'Ask' })
    const messages = [{ role: 'user', content: 'Ask' }, ...first.response.messages, { role: 'user', content: 'Again' }]
    has((await generateText({ model: model('clerk'), messages })).text, 'Hello')
  })
}

const weather = (ran) =>
  tool({
    description: 'The weather of a city.',
    // Version 4 has the other name.
    inputSchema: z.object({ city: z.string() }),
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      ran.push(city)
      return `Rain in ${city}.`
    },
  })
const steps = ai.stepCountIs ? { stopWhen: ai.stepCountIs(5) } : { maxSteps: 5 }

for (const name of ['chat', 'responses']) {
  for (const [how, text] of [
    ['generateText', async (asked) => (await generateText(asked)).text],
    ['streamText', streamed],
  ])
    await check(`${name} ${how} with tools of the client`, async () => {
      const ran = []
      has(await text({ model: models[name]('coder'), prompt: 'Rain?', tools: { weather: weather(ran) }, ...steps }), 'It rains.')
      assert.deepEqual(ran, ['Oslo', 'Rome', 'Bergen'])
    })
  await check(`${name} forced tool`, async () => {
    const place = { ...weather([]), execute: undefined }
    const { toolCalls } = await generateText({
      model: models[name]('object'),
      prompt: 'Where?',
      tools: { place },
      toolChoice: { type: 'tool', toolName: 'place' },
    })
    assert.deepEqual(toolCalls[0].input ?? toolCalls[0].args, { city: 'Oslo' })
  })
}

for (const name of ['chat', 'responses'])
  await check(`${name} generateObject`, async () => {
    // Version 4 sends a tool for chat unless it is told that the model can do more.
    const model = models[name]('json', { structuredOutputs: true })
    const { object } = await generateObject({ model, prompt: 'Where?', schema: z.object({ city: z.string() }) })
    assert.deepEqual(object, { city: 'Oslo' })
  })
