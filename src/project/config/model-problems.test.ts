import { expect, test } from 'vitest'
import { configOf } from '../../../test/fixtures/memory-files.ts'
import type { TroupeError } from '../../contracts/index.ts'
import type { TrustRecords } from './trust/trust-records.ts'

const user = '/home/.ai-agent/.ai-agent.json'
const project = '/project/.ai-agent.json'
const told = (files: { readonly [path: string]: object }, trusted?: TrustRecords): Promise<readonly string[]> =>
  configOf(files, trusted && { trusted }).then(
    () => [],
    (error: TroupeError) => error.problems.map(({ place, message }) => `${place} ${message}`),
  )
const only = 'is only for a provider whose `kind` is `openai`'

test.each<[string, object]>([
  ['a name that stands for nothing', { lab: { api: 'responses' } }],
  ['another kind', { lab: { kind: 'openai-compatible', api: 'chat' } }],
  ['another kind under the name of OpenAI', { openai: { kind: 'anthropic', api: 'chat' } }],
])('an interface of OpenAI does not go with %s', async (_, providers) => {
  expect(await told({ [user]: { providers } })).toEqual([
    expect.stringMatching(new RegExp(`^${user}:1:\\d+ \`providers\\.(lab|openai)\\.api\` ${only}$`)),
  ])
})

test('it goes with OpenAI itself, and with a kind that another layer says', async () => {
  expect(await told({ [user]: { providers: { openai: { api: 'chat' }, lab: { kind: 'openai', api: 'responses' } } } })).toEqual([])
  expect(await told({ [user]: { providers: { lab: { kind: 'openai' } } }, [project]: { providers: { lab: { api: 'chat' } } } })).toEqual([])
})

test('problems are reported once, before the file is trusted', async () => {
  const files = { [project]: { providers: { lab: { api: 'chat' } } } }
  expect(await told(files, new Map())).toEqual([`${project}:1:28 \`providers.lab.api\` ${only}`])
  expect(await told(files)).toHaveLength(1)
})

test('alias cycles are reported at the first alias of each cycle, whether used or not', async () => {
  const models = { a: 'b', b: 'c', c: 'a', own: 'own', fine: 'a-model', also: 'fine', into: 'a' }
  expect(await told({ [user]: { models } })).toEqual([
    `${user}:1:16 \`models.a\` refers to itself: a → b → c → a`,
    `${user}:1:42 \`models.own\` refers to itself: own → own`,
  ])
  expect(await told({ [user]: { models: { a: 'b' } }, [project]: { models: { b: 'a' } } })).toHaveLength(1)
})
