import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, generateText, streamText } from 'ai'
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

for (const name of ['chat', 'responses'])
  await check(`${name} generateObject`, async () => {
    // Version 4 sends a tool for chat unless it is told that the model can do more.
    const model = models[name]('json', { structuredOutputs: true })
    const { object } = await generateObject({ model, prompt: 'Where?', schema: z.object({ city: z.string() }) })
    assert.deepEqual(object, { city: 'Oslo' })
  })
