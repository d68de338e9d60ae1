import { expect, test } from 'vitest'
import { configOf } from '../../../test/fixtures/memory-files.ts'
import type { TrustRecords } from './trust/trust-records.ts'
import { unusedQueues } from './unknown-names.ts'

const file = '/project/.ai-agent.json'
const queue = { concurrent: 1 }
const told = async (settings: object, trusted?: TrustRecords) => {
  const config = await configOf({ [file]: settings }, trusted && { trusted })
  const environment = { MY_LAB_BASE_URL: 'http://127.0.0.1:1/v1' }
  return unusedQueues({ config, environment }, ['openai', 'rehearsal']).map(
    ({ place, message, remedy }) => `${place} ${message}. ${remedy}`,
  )
}
const idle = (name: string): string => `the queue \`${name}\` has no effect: no provider, tool or namespace has this name.`

test('a queue whose name matches nothing is reported, with a suggestion', async () => {
  expect(await told({ queues: { opnai: queue, shel: queue, 'openai/gpt-5': queue, qqqq: queue } })).toEqual([
    `${file}:1:20 ${idle('opnai')} Did you mean \`openai\`?`,
    `${file}:1:44 ${idle('shel')} Did you mean \`shell\`?`,
    expect.stringContaining(idle('openai/gpt-5')),
    `${file}:1:100 ${idle('qqqq')} Name a provider such as \`openai\`, a tool such as \`shell\`, or \`agent\` for all children.`,
  ])
})

test('providers, tools, children and what variables bring are borne', async () => {
  const names = ['openai', 'lab', 'my-lab', 'shell', 'read_output', 'agent', 'agent__scout', 'rehearsal']
  const queues = Object.fromEntries(names.map((name) => [name, queue]))
  expect(await told({ queues, providers: { lab: { baseURL: 'http://127.0.0.1:1/v1' } } })).toEqual([])
})

test('while providers wait for trust, nothing is said', async () => {
  expect(await told({ queues: { lab: queue }, providers: { lab: {} } }, new Map())).toEqual([])
})
