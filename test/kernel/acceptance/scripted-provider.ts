import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the provider gets it. */
export interface Asked {
  /** The prompt of the agent. */
  readonly system: string
  /** Texts of the person or the caller, oldest first. */
  readonly users: readonly string[]
  /** Results of calls since the last of these texts. */
  readonly results: readonly string[]
  /** Names of the tools. */
  readonly tools: readonly string[]
}

export interface Call {
  readonly name: string
  readonly input: object
}
export type Reply = { readonly text: string } | { readonly calls: readonly Call[] } | { readonly pieces: AsyncIterable<string> }
export type Script = (asked: Asked) => Reply | Promise<Reply>

export interface Provider {
  readonly url: string
  script: Script
  readonly asked: readonly Asked[]
  close(): void
}

interface WireMessage {
  readonly role: string
  readonly content: string | readonly { readonly text?: string }[] | null
}

/** Speaks the streaming chat completions of OpenAI. */
export async function scriptedProvider(script: Script): Promise<Provider> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const { messages, tools = [] } = JSON.parse(await bodyOf(request)) as {
      readonly messages: readonly WireMessage[]
      readonly tools?: readonly { readonly function: { readonly name: string } }[]
    }
    const isUser = ({ role }: WireMessage): boolean => role === 'user'
    const one: Asked = {
      system: messages
        .filter(({ role }) => role === 'system')
        .map(textOf)
        .join('\n'),
      users: messages.filter(isUser).map(textOf),
      results: messages
        .slice(messages.findLastIndex(isUser))
        .filter(({ role }) => role === 'tool')
        .map(textOf),
      tools: tools.map((tool) => tool.function.name),
    }
    asked.push(one)
    const reply = await provider.script(one)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (chunk: object): void => void response.write(`data: ${JSON.stringify({ id: 'x', model: 'm', ...chunk })}\n\n`)
    if ('pieces' in reply)
      for await (const content of reply.pieces) send({ choices: [{ index: 0, delta: { role: 'assistant', content } }] })
    for (const chunk of chunksOf('pieces' in reply ? { text: '' } : reply, asked.length)) send(chunk)
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: Provider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    script,
    asked,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return provider
}

function chunksOf(reply: Exclude<Reply, { readonly pieces: unknown }>, number: number): readonly object[] {
  const isCall = 'calls' in reply
  const delta = isCall
    ? {
        tool_calls: reply.calls.map(({ name, input }, index) => ({
          ...{ index, id: `call_${number}_${index}`, type: 'function' },
          function: { name, arguments: JSON.stringify(input) },
        })),
      }
    : { content: reply.text }
  return [
    { choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' }] },
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 } },
  ]
}

const textOf = ({ content }: WireMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('')

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
