import { expect, it } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { runtimeWith } from './helpers.ts'

const trip = z.object({
  city: z.string().refine((city) => city !== 'Atlantis', 'no such city'),
  day: z.iso.date().transform((text) => new Date(text)),
  nights: z.number().int().default(2),
})
const right = '{"city":"Oslo","day":"2026-05-01"}'

it('gives the value of the library, and sends an answer back that JSON Schema or the library refuses', async () => {
  const model = new ScriptedModel([{ text: 'Oslo!' }, { text: '{"city":"Atlantis","day":"2026-05-01"}' }, { text: right }])
  const { status, report } = await runtimeWith(model).run('A weekend', { output: trip })
  expect(status).toBe('completed')
  expect(report).toEqual({ format: 'json', text: right, value: { city: 'Oslo', day: new Date('2026-05-01'), nights: 2 } })
  expect(model.requests[0]?.output).toMatchObject({ schema: { required: ['city', 'day'] } })
  expect(JSON.stringify(model.requests[2]?.messages.at(-1))).toContain('city: no such city')
})

it('fails with invalid_output when no answer matches', async () => {
  const { status, reason, report } = await runtimeWith(new ScriptedModel([{ text: 'a' }, { text: 'b' }]), {
    limits: { maxRetries: 1 },
  }).run('Go', { output: trip })
  expect({ status, reason, value: report?.value }).toEqual({ status: 'failed', reason: 'invalid_output', value: undefined })
})

it('takes a JSON Schema, with the same value in the handle, the service and the journal', async () => {
  const runtime = runtimeWith(new ScriptedModel([{ text: '["Oslo"]' }]))
  const handle = runtime.stream('Go', { output: { type: 'array', items: { type: 'string' } } })
  expect((await handle.outcome).report?.value).toEqual(['Oslo'])
  expect((await runtime.sessions.outcome(handle.sessionId)).report?.value).toEqual(['Oslo'])
})

it('belongs to the session: the next turn and a resume in another process keep it, and other sessions do not have it', async () => {
  const store = memoryStore()
  const first = runtimeWith(new ScriptedModel([{ text: right }, { text: 'plain' }]), { store })
  const handle = first.stream('A weekend', { output: trip })
  expect((await handle.outcome).report?.value).toMatchObject({ nights: 2 })
  expect((await first.run('Another')).report).toEqual({ format: 'markdown', text: 'plain' })
  await first.close()
  const model = new ScriptedModel([{ text: 'again' }, { text: right }])
  const opened = await runtimeWith(model, { store }).open(handle.sessionId)
  await opened.send('And one more')
  const outcome = await opened.outcome
  expect(outcome.report).toEqual({ format: 'json', text: right, value: { city: 'Oslo', day: '2026-05-01' } })
  // The agent itself has not changed.
  expect(outcome.diagnostics).toEqual([])
  model.assertDone()
})

it('describes a schema once, for all runs that use it', async () => {
  let described = 0
  const { '~standard': standard } = trip
  const input = (): object => {
    described++
    return { type: 'object' }
  }
  const output = { '~standard': { ...standard, jsonSchema: { input: input as () => Record<string, unknown> } } }
  const runtime = runtimeWith(new ScriptedModel([{ text: right }, { text: right }]))
  for (let n = 0; n < 2; n++) expect((await runtime.run('Go', { output })).report?.value).toMatchObject({ nights: 2 })
  expect(described).toBe(1)
})

it.each([
  ['a schema that JSON Schema does not express', z.date(), 'Use types that JSON can express'],
  ['a wrong schema', { type: 'strnig' }, 'options.output'],
  ['something else', 'json', 'options.output'],
])('refuses %s before anything starts', async (_, output, text) => {
  const model = new ScriptedModel([])
  await expect(runtimeWith(model).run('Go', { output } as never)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(text),
  })
})
