// What Troupe adds to a streaming provider: time to the first token, and the time of long answers.
// Everything runs in this process against a server on 127.0.0.1 that speaks the OpenAI chat format.
import { createServer } from 'node:http'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createAgentRuntime } from '../dist/index.js'
import { fromAiSdk } from '../dist/models/index.js'

const rounds = 300
const chunk = (delta, more = {}) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
const end = `${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`

let firstSentAt = 0
const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  const size = Number(/size=(\d+)/.exec(body)?.[1] ?? 0)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (size === 0) {
    firstSentAt = performance.now()
    response.write(chunk({ role: 'assistant', content: 'Hello' }))
    setTimeout(() => response.end(chunk({ content: ' world' }) + end), 5)
    return
  }
  const piece = chunk({ content: 'word '.repeat(4) })
  for (let sent = 0; sent < size; sent += 20) if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve))
  response.end(end)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseURL = `http://127.0.0.1:${server.address().port}/v1`
const model = createOpenAICompatible({ name: 'bench', baseURL, includeUsage: false })('m')
const runtime = createAgentRuntime({
  config: { agents: [{ name: 'a', description: 'd', prompt: 'p', model: 'm' }] },
  adapter: fromAiSdk(model, { id: 'bench/m' }),
})

async function bareFirst(prompt) {
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] })
  let first
  for await (const part of stream) if (part.type === 'text-delta') first ??= performance.now() - firstSentAt
  return first
}
async function troupeFirst(prompt) {
  let first
  for await (const event of runtime.stream(prompt)) if (event.type === 'interaction.item.delta') first ??= performance.now() - firstSentAt
  return first
}
async function timed(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}
const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor(values.length * q)]
const ms = (value) => `${value.toFixed(2)} ms`

const bare = []
const ours = []
for (let i = 0; i < rounds + 50; i++) {
  const pair = [await bareFirst('go'), await troupeFirst('go')]
  if (i < 50) continue
  bare.push(pair[0])
  ours.push(pair[1])
}
const added = quantile(ours, 0.5) - quantile(bare, 0.5)
console.log(
  `first token, median of ${rounds}: provider ${ms(quantile(bare, 0.5))}, Troupe ${ms(quantile(ours, 0.5))}, added ${ms(added)} (at most 1 ms: ${added <= 1 ? 'met' : 'missed'})`,
)

const times = {}
for (const size of [250_000, 500_000, 1_000_000, 2_000_000]) {
  const [bareTimes, ourTimes] = [[], []]
  for (let i = 0; i < 3; i++) {
    bareTimes.push(await timed(() => bareFirst(`size=${size}`)))
    ourTimes.push(await timed(() => runtime.run(`size=${size}`)))
  }
  times[size] = Math.min(...ourTimes)
  console.log(`${size / 1_000} KB: provider ${ms(Math.min(...bareTimes))}, Troupe ${ms(times[size])}`)
}
const growth = times[2_000_000] / times[500_000]
console.log(`four times the answer takes ${growth.toFixed(2)} times as long (linear is 4; at most 5: ${growth <= 5 ? 'met' : 'missed'})`)
await runtime.close()
server.close()
server.closeAllConnections()
