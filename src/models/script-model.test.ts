import { describe, expect, test } from 'vitest'
import { type Message, type Model, type ModelPart, type ModelRequest, type Problem, TroupeError } from '../contracts/index.ts'
import { FakeClock, modelContract } from '../testing/index.ts'
import { scriptModel } from './script-model.ts'

const load = (text: string, clock = new FakeClock()): Promise<Model> => scriptModel(text, 'a.yaml', { id: 'script/a.yaml', clock })
const live = (): AbortSignal => new AbortController().signal

function after(replies: number, opening = 'hello'): ModelRequest {
  const reply: Message = { role: 'assistant', parts: [] }
  const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: opening }] }, ...Array.from({ length: replies }, () => reply)]
  return { system: '', messages, tools: [], toolChoice: 'auto', parameters: {} }
}
async function ask(model: Model, request = after(0), signal = live()): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  return parts
}
/** The words of a reply, or the class of its failure, or how it ended otherwise. */
async function gist(model: Model, request = after(0)): Promise<string> {
  const parts = await ask(model, request)
  const last = parts.at(-1)
  if (last?.type === 'error') return last.failure.class
  return last?.type === 'finish' ? parts.map((part) => (part.type === 'text' ? part.text : '')).join('') : 'cut'
}

describe('keeps the contract of models', () => {
  const scripts = {
    text: 'steps: [{ text: One two three. }]',
    calls: 'steps: [{ calls: [{ tool: look, input: { at: sea } }, { tool: look }] }]',
    fault: 'steps: [{ text: One, fault: network }]',
    silence: 'steps: [{ text: One, fault: silence }]',
  }
  for (const { name, run } of modelContract((behaviour) => load(scripts[behaviour]))) test(name, run)
})

test('a step comes in words, then calls, then what it cost', async () => {
  const model = await load(`
steps:
  - reasoning: Let me see.
    text: "Off to  Oslo.\\n"
    calls: [{ tool: look, input: { city: Oslo } }, { tool: broken, input: '{"a":' }]
    usage: { input: 120, output: 30, reasoning: 4 }
`)
  expect(model.costOf?.({ input: 9, output: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0 })).toBe(0)
  expect(await ask(model)).toEqual([
    { type: 'reasoning', text: 'Let' },
    { type: 'reasoning', text: ' me' },
    { type: 'reasoning', text: ' see.' },
    { type: 'text', text: 'Off' },
    { type: 'text', text: ' to' },
    { type: 'text', text: '  Oslo.\n' },
    { type: 'call', id: 'call_1_1', name: 'look', input: '{"city":"Oslo"}' },
    { type: 'call', id: 'call_1_2', name: 'broken', input: '{"a":' },
    { type: 'finish', reason: 'tool-calls', usage: { input: 120, output: 30, cacheRead: 0, cacheWrite: 0, reasoning: 4 }, costUsd: 0 },
  ])
})

test('1: the history says which step comes, in another process too', async () => {
  const script = 'steps: [{ text: one }, { fault: rate_limit }, { fault: cut }, { text: two }, { text: three }]'
  const model = await load(script)
  expect(await gist(model, after(0))).toBe('one')
  expect(await gist(model, after(1))).toBe('rate_limit')
  expect(await gist(model, after(1))).toBe('cut')
  expect(await gist(model, after(1))).toBe('two')
  const resumed = await load(script)
  expect(await gist(resumed, after(2))).toBe('three')
  expect(await gist(resumed, after(1))).toBe('rate_limit')
})

test('2: sessions count their faults separately, and a later session meets them again', async () => {
  const model = await load('steps: [{ fault: network }, { text: one }]')
  expect(await gist(model, after(0, 'a'))).toBe('network')
  expect(await gist(model, after(0, 'b'))).toBe('network')
  expect(await gist(model, after(0, 'a'))).toBe('one')
  expect(await gist(model, after(0, 'b'))).toBe('one')
  expect(await gist(model, after(0, 'a'))).toBe('network')
})

test.each([
  ['steps: [{ text: one }]', 1, 'its only reply was sent'],
  ['steps: [{ text: one }, { text: two }]', 2, 'its 2 replies were sent'],
])('%s has no reply left after %d', async (script, replies, found) => {
  expect(await ask(await load(script), after(replies))).toEqual([
    {
      type: 'error',
      failure: { class: 'config', message: `script/a.yaml has no reply left: ${found}.`, remedy: 'Add a step to the script.' },
    },
  ])
})

test('a script may end in faults', async () => {
  const model = await load('steps: [{ fault: auth }]')
  expect([await gist(model), await gist(model)]).toEqual(['auth', 'config'])
})

test('a delay passes on the clock, before the first part', async () => {
  const clock = new FakeClock()
  const model = await load('steps: [{ text: late, delay: 300ms }]', clock)
  const parts: ModelPart[] = []
  const reply = (async () => {
    for await (const part of model.stream(after(0), { signal: live() })) parts.push(part)
  })()
  await clock.elapse(299)
  expect(parts).toEqual([])
  await clock.elapse(1)
  await reply
  expect(parts).toHaveLength(2)
})

test('an abort ends a delay and leaves no timer behind', async () => {
  const clock = new FakeClock()
  const model = await load('steps: [{ text: late, delay: 1h }]', clock)
  const controller = new AbortController()
  const reply = ask(model, after(0), controller.signal)
  await clock.elapse(10)
  controller.abort()
  expect([await reply, clock.pending]).toEqual([[], 0])
})

describe('a pace', () => {
  const script = `pace: 10\nsteps: [{ reasoning: Let me see., text: 'Off to Oslo, ${'x'.repeat(100)}', calls: [{ tool: look }] }]`
  const started = (model: Model, signal = live()) => {
    const parts: ModelPart[] = []
    const reply = (async () => {
      for await (const part of model.stream(after(0), { signal })) parts.push(part)
    })()
    return { parts, reply, length: () => parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0) }
  }

  test('spreads reasoning and text over the time that their tokens take, on the clock, in small pieces', async () => {
    const clock = new FakeClock()
    const { parts, reply, length } = started(await load(script, clock))
    const lengths = []
    for (let second = 0; second < 3; second++) {
      await clock.elapse(1000)
      lengths.push(length())
    }
    // 10 tokens a second are 40 characters a second.
    expect(lengths).toEqual([23, 64, 104])
    await clock.elapse(1000)
    await reply
    expect(Math.max(...parts.map((part) => ('text' in part ? part.text.length : 0)))).toBeLessThanOrEqual(41)
    expect(parts.slice(-2)).toMatchObject([{ type: 'call', name: 'look' }, { type: 'finish' }])
    expect(clock.pending).toBe(0)
  })

  test('can be switched off by the program', async () => {
    const model = await scriptModel(script, 'a.yaml', { id: 'script/a.yaml', clock: new FakeClock(), pacesScripts: false })
    expect(await ask(model)).toHaveLength(11)
  })

  test('ends with an abort, and leaves no timer behind', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const { parts, reply } = started(await load(script, clock), controller.signal)
    await clock.elapse(200)
    const before = parts.length
    controller.abort()
    await reply
    expect([parts.length, clock.pending]).toEqual([before, 0])
  })

  test('faster than a timer is kept on average', async () => {
    const clock = new FakeClock()
    const { reply } = started(await load(`pace: 10000\nsteps: [{ text: '${'word '.repeat(800)}' }]`, clock))
    await clock.elapse(99)
    expect(clock.pending).toBe(1)
    await clock.elapse(1)
    await reply
  })
})

describe('a price', () => {
  const usage = { input: 1_000_000, output: 200_000, cacheRead: 500_000, cacheWrite: 100_000, reasoning: 0 }
  test.each([
    ['{ input: 3, output: 15 }', 6],
    ['{ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }', 4.725],
    ['{ input: 0, output: 0 }', 0],
  ])('%s costs %d dollars', async (price, cost) => {
    const model = await load(`price: ${price}\nsteps: [{ text: a }]`)
    expect(model.costOf?.(usage)).toBeCloseTo(cost, 10)
  })

  test('is applied to the usage of a step by the loop, not by the reply', async () => {
    const model = await load('price: { input: 3, output: 15 }\nsteps: [{ text: a, usage: { input: 7, output: 1 } }]')
    expect((await ask(model)).at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: { input: 7, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    })
  })
})

async function problemsOf(script: string): Promise<readonly Problem[]> {
  try {
    await load(script)
  } catch (error) {
    if (error instanceof TroupeError && error.code === 'script_invalid') return error.problems
    throw error
  }
  return expect.unreachable('the script is taken as right')
}

describe('a wrong script', () => {
  test('is reported with place, line and nearest key', async () => {
    expect(await problemsOf('steps:\n  - txt: one\n    text: one\n')).toEqual([
      { place: 'a.yaml:2:5', message: 'a step has no key `txt`', remedy: 'Did you mean `text`?', line: '  - txt: one' },
    ])
  })

  test.each(['Dear Ann,\nthe word is sesame: open\n\tbye: *nobody', 'TOKEN=sesame', 'sesame: 1\n', '{ "sesame": *nobody', '- sesame'])(
    'which is something else altogether is not shown: %j',
    async (text) => {
      const problems = await problemsOf(text)
      expect(problems).toMatchObject([{ place: 'a.yaml:1:1', message: 'a script must have `steps`, the list of its replies' }])
      expect(JSON.stringify(problems)).not.toMatch(/sesame|nobody/)
    },
  )

  const scripts: readonly [script: string, found: readonly string[]][] = [
    ['', ['1:1 a script must have `steps`, the list of its replies']],
    ['[]', ['1:1 a script must have `steps`, the list of its replies']],
    ['steps:', ['1:7 `steps` must be a list, not nothing']],
    ['steps: []', ['1:8 `steps` is empty']],
    ['steps: one', ['1:8 `steps` must be a list, not "one"']],
    [
      'steps: [one]',
      [
        '1:9 a step must be a map with `reasoning`, `text`, `calls`, `fault`, `delay`, `usage`, not "one"',
        '1:9 a step must have `text`, `calls` or `fault`',
      ],
    ],
    ['steps: [{ delay: soon, text: 7 }]', ['1:18 `delay` must be a time', '1:30 `text` must be text, not the number 7']],
    ['steps: [{ fault: rate_limits }]', ['1:18 there is no fault `rate_limits`']],
    [
      'steps: [{ text: a, usage: { input: -1, outptu: 2 } }]',
      ['1:36 `input` must be an integer of at least 0, not the number -1', '1:40 `usage` has no key `outptu`'],
    ],
    [
      'steps: [{ calls: [{ input: 3 }, { tool: look, input: [1] }] }]',
      ['1:19 a call must have `tool`, the name of the tool', '1:54 `input` must be a map, or JSON as text, not a list'],
    ],
    [
      'steps: [{ text: &a x }, { text: *a }]',
      ['1:20 the anchor `&a` is not allowed', '1:33 aliases are not allowed', '1:33 `text` must be text, not an alias'],
    ],
    ...['pace: 0', 'pace: -1', 'pace: 1e9', 'pace: .inf', 'pace: .nan', 'pace: fast', 'pace:', 'pace: [1]', "pace: '60'"].map(
      (pace): [string, readonly string[]] => [
        `${pace}\nsteps: [{ text: a }]`,
        [expect.stringMatching(/^1:\d `pace` must be a number of tokens a second from 1 to 10000, not /)],
      ],
    ),
    ['price: 3\nsteps: [{ text: a }]', ['1:8 `price` must be a map with `input`, `output`, `cacheRead`, `cacheWrite`, not the number 3']],
    [
      'price: { input: -3, output: free, cachRead: 1 }\nsteps: [{ text: a }]',
      [
        '1:17 `input` must be US dollars per million tokens, at least 0, not the number -3',
        '1:29 `output` must be US dollars per million tokens, at least 0, not "free"',
        '1:35 `price` has no key `cachRead`',
      ],
    ],
    ['price: { output: 1 }\nsteps: [{ text: a }]', ['1:8 `price` must have `input` and `output`, in US dollars per million tokens']],
    ['price: {}\nsteps: [{ text: a }]', ['1:8 `price` must have `input` and `output`, in US dollars per million tokens']],
    ['speed: 1\nsteps: [{ text: a }]', ['1:1 a script has no key `speed`']],
    ['steps: [{ text: a }', ['1:8 this `[` is never closed']],
    ['steps: [{ text: a }]\nsteps: [{ text: a }]', ['2:1 Map keys must be unique']],
  ]
  test('every problem of pace and price has a remedy', async () => {
    const found = await problemsOf('pace: fast\nprice: { input: free }\nsteps: [{ text: a }]')
    expect(found.map(({ remedy }) => remedy)).toEqual([
      'Write it like `60`, or leave it out: then texts arrive immediately.',
      'Write it like `price: { input: 3, output: 15 }`.',
      'Write it like `price: { input: 3, output: 15 }`.',
    ])
  })

  test.each(scripts)('%j', async (script, found) => {
    expect((await problemsOf(script)).map(({ place, message }) => `${place.slice('a.yaml:'.length)} ${message}`)).toEqual(found)
  })
})
