import { describe, expect, it } from 'vitest'
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

  it('is none where it says how it failed', async () => {
    expect((await run(() => ({ ok: false, error: { class: 'failed', message: 'no' } }))).told).toEqual([])
    expect((await run(() => ({ ok: true, content: 'yes', value: { letters: 3 } }))).told).toEqual([])
  })
})
