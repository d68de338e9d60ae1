import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { expect, it } from 'vitest'
import type { Model } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { caught, clerk, gatedModel, half, serveOpenAi, streamed, team, withCalls, withModel } from './openai-support.ts'

// The events of `/v1/responses`, also of stored responses, with the client `openai`.

/** The id of the response, from its first event. */
const idOf = ([first]: readonly ResponseStreamEvent[]): string => (first as { readonly response: { readonly id: string } }).response.id

it('a response is streamed in numbered events whose pieces add up to it', async () => {
  const { client } = await withModel(team, { tools: ['weather'] })
  const events = await streamed(await client.responses.create({ model: 'clerk', input: 'Rain?', stream: true }, withCalls))
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
  const kinds = events.map(({ type }) => type.replace('response.', ''))
  expect(kinds.filter((kind, index) => kind !== kinds[index - 1] || !kind.endsWith('delta'))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done'],
    ...['output_item.added', 'content_part.added', 'output_text.delta'],
    ...['output_text.done', 'content_part.done', 'output_item.done'],
    ...['output_item.added', 'mcp_call.in_progress', 'mcp_call_arguments.delta', 'mcp_call_arguments.done'],
    ...['mcp_call.completed', 'output_item.done'],
    ...['output_item.added', 'reasoning_summary_part.added', 'reasoning_summary_text.delta'],
    ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done'],
    ...['output_item.added', 'content_part.added', 'output_text.delta'],
    ...['output_text.done', 'content_part.done', 'output_item.done'],
    'completed',
  ])
  const last = events.at(-1)
  if (last?.type !== 'response.completed') throw new Error('the response is not complete')
  const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))
  expect(last.response.output).toEqual(done)
  const { output_text: _, ...stored } = await client.responses.retrieve(last.response.id)
  expect(last.response).toEqual(stored)
})

it('a response is streamed again from every position, with the same events', async () => {
  const { client } = await withModel(team, { tools: ['weather'] })
  const events = await streamed(await client.responses.create({ model: 'clerk', input: 'Rain?', stream: true }, withCalls))
  const id = idOf(events)
  expect(await streamed(await client.responses.retrieve(id, { stream: true }))).toEqual(events)
  for (const [after] of events.entries()) {
    const rest = await streamed(await client.responses.retrieve(id, { stream: true, starting_after: after }))
    expect(rest).toEqual(events.slice(after + 1))
  }
  const deltas: string[] = []
  const helper = client.responses.stream({ response_id: id, starting_after: events.length - 7 })
  helper.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
  expect((await helper.finalResponse()).output_text).toBe('I look it up.It rains in Oslo.')
  expect(deltas).toEqual(['in ', 'Oslo.'])
})

it('reasoning of an attempt that failed is incomplete, and no part of the response', async () => {
  const hold = gate()
  let attempts = 0
  const model: Model = {
    id: 'scripted/model',
    abilities: ['reasoning'],
    async *stream() {
      yield { type: 'reasoning', text: `Attempt ${++attempts}.` }
      await hold.promise
      if (attempts === 1) return yield { type: 'error', failure: { class: 'network', message: 'Lost.', retryAfterMs: 1 } }
      yield { type: 'text', text: 'Done.' }
      yield { type: 'finish', reason: 'stop' }
    },
  }
  const { client } = await serveOpenAi({ model, agents: [clerk] })
  const events: ResponseStreamEvent[] = []
  for await (const event of await client.responses.create({ model: 'clerk', input: 'Go!', stream: true })) {
    events.push(event)
    if (event.type === 'response.reasoning_summary_text.delta') hold.open()
  }
  const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))
  expect(done).toMatchObject([{ status: 'incomplete' }, { status: 'completed' }, { type: 'message', status: 'completed' }])
  const last = events.at(-1)
  if (last?.type !== 'response.completed') throw new Error('the response is not complete')
  expect(last.response.output).toEqual(done.slice(1))
  expect(await streamed(await client.responses.retrieve(last.response.id, { stream: true }))).toEqual(events)
  // Clients refer to all items that they got.
  const references = done.map(({ id }) => ({ type: 'item_reference', id: String(id) }) as const)
  const next = await client.responses.create({ model: 'clerk', input: [...references, { role: 'user', content: 'And?' }] })
  expect(next.status).toBe('completed')
})

it('a response is put together by the stream helper of the client, with live pieces', async () => {
  const hold = gate()
  const pieces = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'One, ' },
    { type: 'text', text: 'two.' },
  ] as const
  const { client } = await serveOpenAi({ model: gatedModel(pieces, hold), agents: [clerk] })
  const stream = client.responses.stream({ model: 'clerk', input: 'Count!' })
  const deltas: string[] = []
  stream.on('response.output_text.delta', ({ delta }) => {
    deltas.push(delta)
    hold.open()
  })
  const final = await stream.finalResponse()
  expect(deltas).toEqual(['One, ', 'two.'])
  expect(final).toMatchObject({ output_text: 'One, two.', output: [{ type: 'reasoning' }, { type: 'message' }] })
})

it('a response in the background is streamed again while it runs', async () => {
  const hold = gate()
  const pieces = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'One, tw' },
    { type: 'text', text: 'o, three.' },
  ] as const
  const { client, runtime } = await serveOpenAi({ model: gatedModel(pieces, hold), agents: [clerk] })
  const before: ResponseStreamEvent[] = []
  for await (const event of await client.responses.create({ model: 'clerk', input: 'Count!', background: true, stream: true })) {
    before.push(event)
    if (event.type === 'response.output_text.delta') break
  }
  const id = idOf(before)
  const after: ResponseStreamEvent[] = []
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: before.length - 2 })) {
    after.push(event)
    hold.open()
  }
  expect(after[0]).toEqual(before.at(-1))
  expect(after.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))).toEqual(['One, ', 'two, ', 'three.'])
  await runtime.sessions.outcome(id.slice('resp_'.length))
  expect(await streamed(await client.responses.retrieve(id, { stream: true }))).toEqual([...before.slice(0, -1), ...after])
})

it('readers of a response in the background have no effect on it, also if an attempt breaks off', async () => {
  const hold = gate()
  let attempts = 0
  const model: Model = {
    id: 'scripted/model',
    abilities: [],
    async *stream() {
      const isFirst = ++attempts === 1
      yield { type: 'text', text: isFirst ? 'Half an ' : 'The answer.' }
      if (isFirst) await hold.promise
      yield isFirst
        ? { type: 'error', failure: { class: 'network', message: 'Lost.', retryAfterMs: 1 } }
        : { type: 'finish', reason: 'stop' }
    },
  }
  const { client, clientOf, token } = await serveOpenAi({ model, agents: [clerk] })
  const first: ResponseStreamEvent[] = []
  let second: Promise<readonly ResponseStreamEvent[]> | undefined
  const other = clientOf(await token({ name: 'reader', scopes: ['read', 'admin'] }))
  for await (const event of await client.responses.create({ model: 'clerk', input: 'Go!', background: true, stream: true })) {
    first.push(event)
    if (event.type !== 'response.output_text.delta' || second) continue
    const begun = gate()
    second = other.responses.retrieve(idOf(first), { stream: true }).then(async (events) => {
      const read: ResponseStreamEvent[] = []
      for await (const each of events) {
        read.push(each)
        if (each.type === 'response.output_text.delta') begun.open()
      }
      return read
    })
    await begun.promise
    hold.open()
  }
  const done = first.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))
  expect(done).toMatchObject([{ status: 'incomplete' }, { status: 'completed', content: [{ text: 'The answer.' }] }])
  expect(first.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed', output: done.slice(1) } })
  expect(await second).toEqual(first)
  expect(await streamed(await client.responses.retrieve(idOf(first), { stream: true }))).toEqual(first)
})

it('a response that is cancelled keeps its text, for those who read it then and later', async () => {
  const pieces = [{ type: 'reasoning', text: 'Hm.' }, ...half] as const
  const { client } = await serveOpenAi({ model: gatedModel(pieces, { promise: new Promise(() => {}) }), agents: [clerk] })
  const events: ResponseStreamEvent[] = []
  let cancelled: ReturnType<typeof client.responses.cancel> | undefined
  for await (const event of await client.responses.create({ model: 'clerk', input: 'Go!', background: true, stream: true })) {
    events.push(event)
    if (event.type === 'response.content_part.added') cancelled ??= client.responses.cancel(idOf(events))
  }
  const last = events.at(-1)
  if (last?.type !== 'response.incomplete') throw new Error(`the last event is ${last?.type}`)
  expect(last.response).toMatchObject({
    status: 'cancelled',
    error: null,
    output: [{ type: 'reasoning' }, { type: 'message', status: 'incomplete', content: [{ text: 'One, ' }] }],
  })
  expect(await cancelled).toMatchObject(last.response)
  const { id } = last.response
  expect(await client.responses.retrieve(id)).toMatchObject({ ...last.response, output_text: 'One, ' })
  expect(await streamed(await client.responses.retrieve(id, { stream: true }))).toEqual(events)
})

it('errors after the first text end a stream, and the response keeps the text', async () => {
  const hold = gate()
  const pieces = [
    { type: 'text', text: 'Half ' },
    { type: 'text', text: 'an' },
  ] as const
  const model = gatedModel(pieces, hold, { class: 'network', message: 'Lost.' })
  const { client, runtime } = await serveOpenAi({ model, agents: [clerk] })
  const events: ResponseStreamEvent[] = []
  for await (const event of await client.responses.create({ model: 'clerk', input: 'Go!', stream: true })) {
    events.push(event)
    if (event.type === 'response.output_text.delta') hold.open()
  }
  const last = events.at(-1)
  if (last?.type !== 'response.failed') throw new Error(`the last event is ${last?.type}`)
  expect(last.response).toMatchObject({
    status: 'failed',
    error: { code: 'server_error', message: 'The answer broke off: Lost.' },
    output: [{ status: 'incomplete', content: [{ text: 'Half an' }] }],
  })
  const { id } = last.response
  expect((await runtime.sessions.list()).map(({ status }) => status)).toEqual(['interrupted'])
  expect(await client.responses.retrieve(id)).toMatchObject(last.response)
  expect(await streamed(await client.responses.retrieve(id, { stream: true }))).toEqual(events)
})

it('a response in the background waits for a person, and then continues', async () => {
  const { client, runtime, fetch } = await withModel([{ text: 'I pay.', calls: [{ tool: 'pay' }] }, { text: 'Paid.' }], { tools: ['pay'] })
  const begun = await client.responses.create({ model: 'clerk', input: 'Pay!', background: true })
  const sessionId = begun.id.slice('resp_'.length)
  await runtime.sessions.outcome(sessionId)
  const waiting = (await client.responses.retrieve(begun.id)) as unknown as { readonly approvals: readonly { readonly id: string }[] }
  expect(await caught(streamed(await client.responses.retrieve(begun.id, { stream: true })))).toMatchObject({ code: 'approval_required' })
  const before = (await (await fetch(`/v1/responses/${begun.id}?stream=true`)).text())
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as { readonly sequence_number: number }] : []))
  const error = before.pop()
  expect(error).toMatchObject({ type: 'error', code: 'approval_required', sequence_number: before.at(-1)?.sequence_number })
  expect(waiting).toMatchObject({ status: 'in_progress', session_id: sessionId, approvals: [{ summary: 'Pay 5 euros' }] })
  const approvalId = waiting.approvals[0]?.id ?? ''
  await runtime.sessions.approve(sessionId, { approvalId, decision: { kind: 'approve', breadth: 'once' } })
  await runtime.sessions.outcome(sessionId)
  expect(await client.responses.retrieve(begun.id)).toMatchObject({ status: 'completed', output_text: 'I pay.Paid.' })
  const again = await streamed(await client.responses.retrieve(begun.id, { stream: true }))
  expect(again.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
  const rest = await streamed(await client.responses.retrieve(begun.id, { stream: true, starting_after: error?.sequence_number ?? 0 }))
  expect([...before, ...rest]).toEqual(again)
})
