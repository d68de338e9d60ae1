import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { apiKey, check, has, joined, url } from './check.mjs'

const openai = (more) => new ChatOpenAI({ apiKey, configuration: { baseURL: `${url}/v1` }, ...more })
const models = {
  chat: (model) => openai({ model }),
  responses: (model) => openai({ model, useResponsesApi: true }),
  anthropic: (model) => new ChatAnthropic({ model, apiKey, anthropicApiUrl: url }),
}
const textOf = ({ content }) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''))

for (const [name, model] of Object.entries(models)) {
  await check(`${name} invoke`, async () => has(textOf(await model('clerk').invoke('Hello')), 'Hello from the clerk.'))
  await check(`${name} stream`, async () => has(await joined(await model('team').stream('Ask'), textOf), 'The helper said 42.'))
  await check(`${name} conversation`, async () => {
    const first = await model('team').invoke('Ask')
    has(textOf(await model('clerk').invoke([['human', 'Ask'], first, ['human', 'Again']])), 'Hello')
  })
}
