import OpenAI from 'openai'
import { apiKey, assert, check, has, joined, url } from './check.mjs'

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
const messages = [{ role: 'user', content: 'Hello' }]

await check('models', async () => {
  const ids = []
  for await (const { id } of client.models.list()) ids.push(id)
  assert.ok(ids.includes('clerk'))
})
await check('chat', async () => {
  const { choices } = await client.chat.completions.create({ model: 'clerk', messages })
  has(choices[0].message.content, 'Hello from the clerk.')
})
await check('chat stream', async () => {
  const stream = await client.chat.completions.create({ model: 'team', messages, stream: true, stream_options: { include_usage: true } })
  has(await joined(stream, ({ choices }) => choices[0]?.delta.content), 'The helper said 42.')
})
await check('responses', async () => {
  const response = await client.responses.create({ model: 'team', input: 'Ask' })
  has(response.output_text, 'The helper said 42.')
  const next = await client.responses.create({ model: 'team', input: 'Again', previous_response_id: response.id })
  has((await client.responses.retrieve(next.id)).output.at(-1).content[0].text, 'Again')
  assert.equal((await client.responses.inputItems.list(next.id)).data.length, 1)
})
await check('responses stream', async () => {
  const stream = await client.responses.create({ model: 'team', input: 'Ask', stream: true })
  has(await joined(stream, ({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')), 'The helper said 42.')
})
await check('responses stream from a position', async () => {
  const { id } = await client.responses.create({ model: 'clerk', input: 'Hello' })
  // Older versions have no types for it, and pass it on.
  const stream = await client.get(`/responses/${id}`, { query: { stream: true, starting_after: 4 }, stream: true })
  const numbers = []
  for await (const { sequence_number } of stream) numbers.push(sequence_number)
  assert.equal(numbers[0], 5)
})
await check('unknown route', async () => {
  const error = await client.embeddings.create({ model: 'clerk', input: 'a' }).catch((thrown) => thrown)
  assert.equal(error.status, 404)
  assert.equal(error.type, 'invalid_request_error')
})
