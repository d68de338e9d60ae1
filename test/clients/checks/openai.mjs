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
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
await check('chat with tools of the client', async () => {
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }]
  const conversation = [...messages]
  for (;;) {
    const stream = client.chat.completions.stream
      ? client.chat.completions.stream({ model: 'coder', messages: conversation, tools })
      : client.beta.chat.completions.stream({ model: 'coder', messages: conversation, tools })
    const { message } = (await stream.finalChatCompletion()).choices[0]
    if (!message.tool_calls?.length) return has(message.content, 'It rains.')
    conversation.push(message, ...message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' })))
  }
})
await check('responses with tools of the client', async () => {
  const tools = [{ type: 'function', name: 'weather', parameters, strict: false }]
  const calls = ({ output }) => output.filter(({ type }) => type === 'function_call')
  let response = await client.responses.create({ model: 'coder', input: 'Rain?', tools })
  while (calls(response).length > 0) {
    const input = calls(response).map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'Rain.' }))
    response = await client.responses.create({ model: 'coder', input, tools, previous_response_id: response.id })
  }
  has(response.output_text, 'It rains.')
})
await check('unknown route', async () => {
  const error = await client.embeddings.create({ model: 'clerk', input: 'a' }).catch((thrown) => thrown)
  assert.equal(error.status, 404)
  assert.equal(error.type, 'invalid_request_error')
})
