import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled } from '@openai/agents'
import OpenAI from 'openai'
import { apiKey, check, has, joined, url } from './check.mjs'

setTracingDisabled(true)
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
const models = { chat: OpenAIChatCompletionsModel, responses: OpenAIResponsesModel }

for (const [name, Model] of Object.entries(models)) {
  const agent = (model) => new Agent({ name: 'Test', instructions: 'Be brief.', model: new Model(client, model) })
  await check(`${name} run`, async () => has((await run(agent('clerk'), 'Hello')).finalOutput, 'Hello from the clerk.'))
  await check(`${name} stream`, async () => {
    const result = await run(agent('team'), 'Ask', { stream: true })
    has(await joined(result.toTextStream({ compatibleWithNodeStreams: false })), 'The helper said 42.')
    await result.completed
  })
  await check(`${name} conversation`, async () => {
    const first = await run(agent('team'), 'Ask')
    has((await run(agent('clerk'), [...first.history, { role: 'user', content: 'Again' }])).finalOutput, 'Hello')
  })
}
