import { describe, expect, it } from 'vitest'
import { defineTool } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { runtimeWith, tool } from './helpers.ts'

const call = { tool: 't', input: {} }

async function run(answer: () => unknown) {
  const model = new ScriptedModel([{ calls: [call] }, { calls: [{ ...call, input: { q: 'again' } }] }, { text: 'Done.' }])
  const { status, diagnostics } = await runtimeWith(model, { tools: [tool('t', { execute: answer as never })] }).run('Go')
  return { status, told: diagnostics.map(({ code, message }) => `${code}: ${message}`), remedies: diagnostics.map(({ remedy }) => remedy) }
}

describe('a tool that returns no result', () => {
  it.each([
    ['an object', { letters: 3, key: 'sk-secret' }, 'another object'],
    ['a number', 3, 'a number'],
    ['a list', [1], 'a list'],
    ['nothing', undefined, 'nothing'],
    ['null', null, 'null'],
  ])('leaves a diagnostic in the outcome, once: %s', async (_, value, kind) => {
    for (const answer of [() => value, async () => value]) {
      const { status, told, remedies } = await run(answer)
      expect(status).toBe('completed')
      expect(told).toEqual([`tool_output_invalid: "t" returned neither a text nor an object with "ok". It was ${kind}.`])
      expect(remedies).toEqual([expect.stringMatching(/^Return a text, /)])
    }
  })

  it('leaves a diagnostic if the result cannot be read, too', async () => {
    const hostile = {
      get ok() {
        throw new Error('no')
      },
    }
    expect((await run(() => hostile)).told).toEqual(['tool_output_invalid: The output of "t" cannot be read: no. It was another object.'])
  })

  it.each(['content', 'value', 'extras'])('costs the call, not the run, where "%s" throws when it is read', async (field) => {
    const hostile = Object.defineProperty({ ok: true, content: 'x' }, field, {
      get() {
        throw new Error('lazy field not loaded')
      },
    })
    const { status, told } = await run(() => hostile)
    expect(status).toBe('completed')
    expect(told).toEqual(['tool_output_invalid: The output of "t" cannot be read: lazy field not loaded. It was another object.'])
  })

  it('reads each field once: what is checked is what is kept', async () => {
    const fickle = () => {
      let reads = 0
      return {
        ok: true,
        get content() {
          return ++reads === 1 ? 'text' : 5
        },
      }
    }
    expect(await run(fickle)).toMatchObject({ status: 'completed', told: [] })
  })

  const cycle: { self?: unknown } = {}
  cycle.self = { again: cycle }
  it.each([
    ['a cycle', cycle, 'a cycle at self.again'],
    ['a BigInt', { trips: [1n] }, 'a BigInt at trips.0'],
    ['NaN', { price: Number.NaN }, 'NaN at price'],
    ['an infinite number', -1 / 0, '-Infinity'],
    ['a Map', { trips: [{ seats: new Map([['a', 1]]) }] }, 'a Map at trips.0.seats'],
    ['a Set', new Set([1]), 'a Set'],
    ['a function', { next: () => 1 }, 'a function at next'],
  ])('that JSON can express, but %s in its value: the call fails and keeps its text', async (_, value, problem) => {
    const typed = defineTool({ name: 't', description: 'd', input: { type: 'object' }, output: {}, execute: () => value })
    const plain = tool('t', { execute: () => ({ ok: true, content: 'Booked.', value: value as never }) })
    const message = `"t" returned a value that is not JSON: ${problem}.`
    for (const each of [typed, plain]) {
      const model = new ScriptedModel([{ calls: [call] }, { text: 'Done.' }])
      const { status, diagnostics } = await runtimeWith(model, { tools: [each] }).run('Go')
      expect([status, diagnostics.map((told) => [told.code, told.message])]).toEqual(['completed', [['tool_output_invalid', message]]])
      expect(JSON.stringify(model.requests[1])).toContain(
        each === plain ? 'The call has run.\\n\\nPartial output:\\nBooked.' : 'The call has run.',
      )
    }
  })

  it('is none for a value of classes, dates and fields without a value', async () => {
    class Trip {
      readonly to = 'Oslo'
      readonly by = undefined
    }
    const twice = new Trip()
    const value = { trips: [twice, twice], at: new Date(0), none: null } as never
    expect((await run(() => ({ ok: true, content: 'yes', value }))).told).toEqual([])
  })

  it('is none where it says how it failed', async () => {
    expect((await run(() => ({ ok: false, error: { class: 'failed', message: 'no' } }))).told).toEqual([])
    expect((await run(() => ({ ok: true, content: 'yes', value: { letters: 3 } }))).told).toEqual([])
  })
})
