// A provider of models on loopback. It speaks chat completions, responses and Anthropic messages, and its model is a function.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { formats } from './wire-formats.mjs'

/** `answer(conversation)` returns { text, calls: [{ name, kind, input }] }. `requests` has every request with the reply to it. */
export async function scriptedProvider(answer) {
  const requests = []
  let replies = 0
  let calls = 0
  const server = createServer(async (request, response) => {
    const { method, url: path } = request
    const { pathname } = new URL(path, 'http://provider')
    const format = formats.find(({ ending }) => pathname.endsWith(ending))
    if (method !== 'POST' || !format) return sendJson(response, 404, { error: { message: `There is no ${method} ${path}.` } })
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const { text, calls: asked = [] } = answer(format.read(body))
    replies += 1
    const reply = { id: replies, text, calls: asked.map((call) => ({ ...call, id: `call_${++calls}` })) }
    requests.push({ path, body, reply })
    if (!body.stream) return sendJson(response, 200, format.body(reply, body.model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const { event, data } of format.events(reply, body.model))
      response.write(`${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
