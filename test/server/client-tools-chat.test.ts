import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { resultsIn } from '../acceptance/support.ts'
import { clerk, serveOpenAi, weather } from './openai-support.ts'

// Tools of a client in chat completions, with the official SDK.

const edit = {
  type: 'function',
  function: { name: 'Edit', description: 'Edits a file', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
} as const

const scene = (steps: readonly ScriptedStepSource[], agent: object = {}, tools = [weather]) => {
  const model = new ScriptedModel([...steps])
  return serveOpenAi({ agents: [{ ...clerk, ...agent }], model, tools }).then((served) => ({ ...served, model }))
}

type Message = OpenAI.ChatCompletionMessageParam
const ask = (client: OpenAI, more: readonly Message[]) =>
  client.chat.completions.create({ model: 'clerk', messages: [{ role: 'user', content: 'go' }, ...more], tools: [edit] })
const asked = ({ choices }: OpenAI.ChatCompletion): readonly Message[] => [choices[0]!.message]
const result = ({ choices }: OpenAI.ChatCompletion, content: string): Message => ({
  role: 'tool',
  tool_call_id: choices[0]!.message.tool_calls![0]!.id,
  content,
})

describe('tools of a client in chat completions', () => {
  it('a call comes back as a tool call, and its result continues the same session', async () => {
    const { client, model, runtime } = await scene([
      { text: 'I edit it.', calls: [{ tool: 'Edit', input: { path: 'a.ts' } }], usage: { input: 10, output: 5 } },
      { text: 'Done.', usage: { input: 20, output: 7 } },
    ])
    const messages = [{ role: 'user', content: 'fix it' }] as const
    const first = await client.chat.completions.create({ model: 'clerk', messages: [...messages], tools: [edit] })
    const [choice] = first.choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I edit it.' } })
    const [call] = choice!.message.tool_calls!
    expect(call).toMatchObject({ type: 'function', function: { name: 'Edit', arguments: '{"path":"a.ts"}' } })
    expect(call!.id).toMatch(/^[\w-]{1,64}$/)
    expect(first.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 })
    const second = await client.chat.completions.create({
      model: 'clerk',
      tools: [edit],
      messages: [...messages, choice!.message, { role: 'tool', tool_call_id: call!.id, content: 'ok' }],
    })
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Done.' } })
    expect(second.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 7 })
    expect(second.id).not.toBe(first.id)
    expect(await runtime.sessions.list()).toHaveLength(1)
    expect(model.requests).toHaveLength(2)
  })

  it('streams texts, then the calls', async () => {
    const { client } = await scene([
      {
        text: 'Both.',
        calls: [
          { tool: 'Edit', input: { path: 'a' } },
          { tool: 'Edit', input: { path: 'b' } },
        ],
      },
    ])
    const stream = client.chat.completions.stream({ model: 'clerk', messages: [{ role: 'user', content: 'go' }], tools: [edit] })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Both.', tool_calls: [{ function: { arguments: '{"path":"a"}' } }, { function: { arguments: '{"path":"b"}' } }] },
    })
  })

  it('the same results again follow the turn; other ones are refused for good', async () => {
    const { client, fetch, model } = await scene([
      { calls: [{ tool: 'Edit' }] },
      { calls: [{ tool: 'Edit', input: { path: 'b' } }] },
      { text: 'Done.' },
    ])
    const first = await ask(client, [])
    const again = [...asked(first), result(first, 'ok')]
    const second = await ask(client, again)
    const repeated = await ask(client, again)
    expect(repeated.choices[0]?.message.tool_calls).toEqual(second.choices[0]?.message.tool_calls)
    const refused = await fetch('/v1/chat/completions', {
      json: { model: 'clerk', messages: [{ role: 'user', content: 'go' }, ...asked(first), result(first, 'other')], tools: [edit] },
    })
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false'])
    expect(model.requests).toHaveLength(2)
  })

  it('a call that the client has dropped gets a result that says so', async () => {
    const { client, model } = await scene([
      { calls: [{ tool: 'Edit' }] },
      { calls: [{ tool: 'Edit', input: { path: 'b' } }] },
      { text: 'Summary.' },
    ])
    const first = await ask(client, [])
    await ask(client, [...asked(first), result(first, 'ok')])
    const third = await ask(client, [...asked(first), result(first, 'ok'), { role: 'user', content: 'Summarise.' }])
    expect(third.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Summary.' } })
    expect(resultsIn(model.requests[2]).at(-1)).toMatchObject({ ok: false, content: expect.stringContaining('went on without') })
  })
})
