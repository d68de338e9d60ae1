import { Agent, handoff, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { apiKey, check, has, joined, url } from './check.mjs'

setTracingDisabled(true)
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
const models = { chat: OpenAIChatCompletionsModel, responses: OpenAIResponsesModel }

for (const [name, Model] of Object.entries(models)) {
  const agent = (model) => new Agent({ name: 'Test', instructions: 'Be brief.', model: new Model(client, model) })
  await check(`${name} run`, async () => has((await run(agent('clerk'), 'Hello')).finalOutput, 'Hello from the clerk.'))
  await check(`${name} handoff to an agent with a tool`, async () => {
    const weather = tool({
      name: 'weather',
      description: 'Weather.',
      parameters: z.object({ city: z.string() }),
      execute: async () => 'Rain.',
    })
    const meteorologist = new Agent({
      name: 'Meteorologist',
      instructions: 'Forecast.',
      model: new Model(client, 'desk'),
      tools: [weather],
    })
    const desk = new Agent({
      name: 'Desk',
      instructions: 'Hand off.',
      model: new Model(client, 'desk'),
      handoffs: [handoff(meteorologist)],
    })
    has((await run(desk, 'Rain?')).finalOutput, 'It rains.')
  })
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
