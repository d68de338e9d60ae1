// One session with tools of every effect and concurrency, and one whose result has bytes.
import { liveLives } from './kill-points.mjs'

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'], additionalProperties: false }
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgABc3UBGAAAAABJRU5ErkJggg==', 'base64')
const parts = [
  { type: 'image', mediaType: 'image/png', data: png },
  { type: 'audio', mediaType: 'audio/wav', data: Buffer.from('RIFF\0') },
  { type: 'file', mediaType: 'application/zip', data: Buffer.from('PK\0'), name: 'all.zip' },
]

const toolsWith = (effect) => {
  const tool = (name, more) => ({
    name,
    description: `${name} one token`,
    inputSchema: schema,
    execute: ({ token }) => effect(token),
    ...more,
  })
  return [
    tool('write_one'),
    tool('write_many', { concurrency: 'shared', execute: async ({ token }) => effect(token) }),
    tool('write_keyed', { concurrency: { key: ({ token }) => token[0] } }),
    tool('put_one', { effect: 'idempotent', concurrency: 'shared', execute: ({ token }, { callId }) => effect(`${token}@${callId}`) }),
    tool('draw_one', { execute: ({ token }) => ({ ok: true, content: effect(token), parts }) }),
    tool('read_one', { effect: 'read', concurrency: 'shared' }),
    tool('fail_one', { effect: 'read', execute: () => ({ ok: false, error: { class: 'network', message: 'no route' } }) }),
  ]
}

const call = (id, name, token) => ({ type: 'call', id, name, input: JSON.stringify({ token, reason: 'because' }) })
const script = [
  [call('a', 'read_one', 'r-1'), call('b', 'put_one', 'i-1'), call('c', 'write_many', 'w-1')],
  [call('d', 'write_one', 'w-2'), call('e', 'write_one', 'w-3')],
  [
    { type: 'text', text: 'Half ' },
    { type: 'text', text: 'way.' },
    call('f', 'write_many', 'w-4'),
    call('g', 'write_many', 'w-5'),
    call('h', 'fail_one', 'f-1'),
  ],
  [call('i', 'write_keyed', 'k-1'), call('j', 'write_keyed', 'k-2'), call('k', 'write_keyed', 'm-1'), call('l', 'no_such_tool', 'x')],
  [call('m', 'draw_one', 'd-1'), call('n', 'write_one', 'w-6')],
  [
    { type: 'text', text: 'All ' },
    { type: 'text', text: 'done.' },
  ],
]

/** The bytes of the image, unless the call was lost. */
function seesPicture(messages) {
  const drawn = messages.flatMap(({ results = [] }) => results).find(({ id }) => id === 'm')
  return drawn?.ok === false || drawn?.parts?.[0]?.data === png.toString('base64')
}

/** Knows where it is from the history alone, as a real model does. */
const modelWith = (points) => ({
  id: 'scripted/crash',
  abilities: ['tools', 'images'],
  async *stream({ messages }) {
    points.pass('before reply')
    try {
      const step = messages.filter((message) => message.role === 'assistant').length
      if (step === script.length - 1 && !seesPicture(messages)) yield { type: 'text', text: 'There is no picture. ' }
      yield* script[step]
      yield { type: 'finish', reason: 'stop', usage: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, costUsd: 0 }
    } finally {
      // Nobody asks for more after the end: what follows the last part is heard here.
      points.pass('after reply')
    }
  },
})

await liveLives((effect, points) => ({
  config: {
    agents: [{ name: 'subject', description: 'Is killed', prompt: 'Go on.', model: 'crash', limits: { maxToolTurns: 12 } }],
    tools: toolsWith(effect),
  },
  adapter: modelWith(points),
}))
