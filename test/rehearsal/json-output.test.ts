import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonSchema, ModelPart } from '../../src/contracts/index.ts'
import { assistant, conversation, list, object, reply, said, text, user } from './stage.ts'
import { office, shop, travel } from './tool-sets.ts'

const asked = (schema: JsonSchema): { agent: JsonObject } => ({ agent: { output: { format: 'json', schema } as unknown as JsonObject } })
const json = (schema: JsonSchema) => ({ schema: schema as JsonObject })
const notices = (parts: readonly ModelPart[]) => parts.flatMap((part) => (part.type === 'notice' ? [part.message] : []))

describe('an answer that has to be JSON', () => {
  it('is filled from the request, the calls and what they brought', async () => {
    const schema = object({
      city: text,
      temperature: { type: 'number' },
      summary: text,
      ok: { type: 'boolean' },
      rating: { type: 'integer', minimum: 1 },
    })
    const scene = await conversation(travel, asked(schema)).say('weather in Oslo')
    expect(scene.status).toBe('completed')
    expect(JSON.parse(scene.answer)).toEqual({
      city: 'Oslo',
      temperature: 14,
      summary: 'From look_up_weather (city: Oslo):\nOslo: dry on Saturday, 14 °C, light wind from the fjord.',
      ok: true,
      rating: 1,
    })
  })

  it.each([
    ['Where is Oslo?', 'Oslo'],
    ['Describe Oslo', 'Oslo'],
    ['Tell me about New York, please', 'New York'],
    ['What is a city?', ''],
  ])('has the name that the request has: %s', async (request, city) => {
    const scene = await conversation([], asked(object({ city: text }))).say(request)
    expect(JSON.parse(scene.answer)).toEqual({ city })
  })

  it('takes rows from results that have them', async () => {
    const row = object({ title: text, time: text })
    const scene = await conversation(office, asked(object({ date: text, meetings: list(row) }))).say('what meetings do I have today?')
    expect(JSON.parse(scene.answer)).toEqual({
      date: 'today',
      meetings: [
        { title: 'Stand-up', time: '09:00' },
        { title: 'Lunch', time: '12:00' },
      ],
    })
  })

  it('leaves out what is optional and not known, and takes from an enum what was said', async () => {
    const schema = object(
      { category: { ...text, enum: ['hats', 'shoes', 'shirts'] }, name: text, stock: { type: 'integer' }, note: text },
      ['category', 'name'],
    )
    const scene = await conversation(shop, asked(schema)).say('Find shirts')
    expect(JSON.parse(scene.answer)).toEqual({ category: 'shirts', name: 'Linen shirt' })
  })

  it('is an object of what came back if there is no schema', async () => {
    const scene = await conversation(travel, { agent: { output: { format: 'json' } } }).say('weather in Oslo')
    expect(JSON.parse(scene.answer)).toEqual({
      answer: 'From look_up_weather (city: Oslo):\nOslo: dry on Saturday, 14 °C, light wind from the fjord.',
      results: [{ tool: 'look_up_weather', ok: true, result: 'Oslo: dry on Saturday, 14 °C, light wind from the fjord.' }],
    })
  })

  it('is labelled by a notice, which also asks what the JSON cannot', async () => {
    const tools = travel.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    const parts = await reply({ messages: [user('trains to Oslo')], tools, output: json(object({ from: text, to: text })) })
    expect(said(parts)).toBe('{"from":"","to":"Oslo"}')
    expect(notices(parts)).toEqual([
      'This JSON was put together by rules (rehearsal), not by an LLM; what nothing was known about has a neutral value. To use look_up_trains I need: from (text).',
    ])
  })

  it('becomes neutral once it was sent back, and makes no further calls', async () => {
    const messages = [
      user('weather in Oslo'),
      assistant('{"city":"Oslo"}'),
      user('Your answer is invalid: city must be short. Answer again.'),
    ]
    const tools = travel.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    const output = json(object({ city: text }))
    const again = await reply({ messages, tools, output })
    expect(said(again)).toBe('{"city":""}')
    expect(again.some((part) => part.type === 'call')).toBe(false)
  })

  it('ends the turn where no JSON can fit', async () => {
    const { say, requests } = conversation(
      [],
      asked({ type: 'object', properties: { a: { allOf: [{ type: 'string' }, { type: 'number' }] } }, required: ['a'] }),
    )
    const scene = await say('go')
    expect(scene.status).toBe('failed')
    expect(requests.length).toBeLessThan(5)
  })
})
