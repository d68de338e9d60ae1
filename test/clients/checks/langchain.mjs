import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { apiKey, assert, check, has, joined, url } from './check.mjs'

const openai = (more) => new ChatOpenAI({ apiKey, configuration: { baseURL: `${url}/v1` }, ...more })
const models = {
  chat: (model) => openai({ model }),
  responses: (model) => openai({ model, useResponsesApi: true }),
  anthropic: (model) => new ChatAnthropic({ model, apiKey, anthropicApiUrl: url }),
}
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const textOf = ({ content }) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''))

for (const [name, model] of Object.entries(models)) {
  await check(`${name} invoke`, async () => has(textOf(await model('clerk').invoke('Hello')), 'Hello from the clerk.'))
  await check(`${name} stream`, async () => has(await joined(await model('team').stream('Ask'), textOf), 'The helper said 42.'))
  await check(`${name} conversation`, async () => {
    const first = await model('team').invoke('Ask')
    has(textOf(await model('clerk').invoke([['human', 'Ask'], first, ['human', 'Again']])), 'Hello')
  })
  if (name === 'anthropic') continue
  await check(`${name} tools of the client`, async () => {
    const weather = { type: 'function', function: { name: 'weather', parameters } }
    const asked = model('coder').bindTools([weather])
    const messages = [new HumanMessage('Rain?')]
    for (;;) {
      const message = await asked.invoke(messages)
      if (!message.tool_calls?.length) return has(textOf(message), 'It rains.')
      messages.push(message, ...message.tool_calls.map(({ id }) => new ToolMessage({ content: 'Rain.', tool_call_id: id })))
    }
  })
  await check(`${name} structured output by a forced tool`, async () => {
    const asked = model('object').withStructuredOutput(parameters, { name: 'place', method: 'functionCalling' })
    assert.deepEqual(await asked.invoke('Where?'), { city: 'Oslo' })
  })
}
