import Anthropic from '@anthropic-ai/sdk'
import { apiKey, assert, check, has, url } from './check.mjs'

const client = new Anthropic({ baseURL: url, apiKey })
const ask = { max_tokens: 1000, messages: [{ role: 'user', content: 'Hello' }] }
const texts = ({ content }) => content.map(({ text }) => text).join('')

await check('models', async () => {
  const ids = []
  for await (const { id } of client.models.list()) ids.push(id)
  assert.ok(ids.includes('clerk'))
  assert.equal((await client.models.retrieve('clerk')).type, 'model')
})
await check('messages', async () => has(texts(await client.messages.create({ ...ask, model: 'clerk' })), 'Hello from the clerk.'))
await check('messages stream', async () => {
  const stream = client.messages.stream({ ...ask, model: 'team', thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4000 })
  has(texts(await stream.finalMessage()), 'The helper said 42.')
})
await check('beta with newer parameters', async () => {
  const context_management = { edits: [{ type: 'clear_tool_uses_20250919' }] }
  const betas = ['context-management-2025-06-27']
  has(texts(await client.beta.messages.create({ ...ask, model: 'clerk', betas, context_management })), 'Hello from the clerk.')
})
await check('count_tokens with tools', async () => {
  const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }]
  const { messages } = ask
  const [less, more] = [
    await client.messages.countTokens({ model: 'clerk', messages }),
    await client.messages.countTokens({ model: 'clerk', messages, tools }),
  ]
  assert.ok(more.input_tokens > less.input_tokens)
})
