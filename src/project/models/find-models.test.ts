import { expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import { findModels } from './find-models.ts'

/** A machine without a key and without a server. */
function bare(variables: { readonly [name: string]: string } = {}) {
  return { variables, clock: new FakeClock(), fetch: () => Promise.reject(new TypeError('fetch failed')) }
}

test('where `auto` finds nothing, the model that is named behind it is taken, with a word about it', async () => {
  const found = await findModels(['auto', 'rehearsal'], bare())
  expect(found.models).toEqual(['rehearsal'])
  expect(found.notices).toEqual(['auto is skipped: `auto` found no model: no key is set, and no local server answers.'])
})

test('so too where a key is missing', async () => {
  const found = await findModels(['openai/gpt-5.4-mini', 'rehearsal'], bare())
  expect(found.models).toEqual(['rehearsal'])
  expect(found.notices).toEqual([expect.stringMatching(/^openai\/gpt-5.4-mini is skipped: .*OPENAI_API_KEY/)])
})

test('without any usable model, the error lists everything that is missing, with a command', async () => {
  const error = await findModels(['auto', 'openai/gpt-5.4-mini'], bare()).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TroupeError)
  const told = JSON.stringify([(error as TroupeError).message, (error as TroupeError).problems])
  for (const word of ['None of these variables is set.', 'openai/gpt-5.4-mini needs a key', 'export OPENAI_API_KEY=…'])
    expect(told).toContain(word)
})

test('an unknown name is thrown, whatever else is found', async () => {
  await expect(findModels(['auto', 'no-such-model-9000', 'rehearsal'], bare())).rejects.toMatchObject({ code: 'model_unknown' })
})

test('a script with a price is named as recorded, once for all scripts', async () => {
  const readFile = async (path: string) => `${path.includes('free') ? '' : 'price: { input: 3, output: 15 }\n'}steps: [{ text: Hello. }]`
  const notices = async (names: readonly string[]) => (await findModels(names, { ...bare(), readFile })).notices
  expect(await notices(['script/free.yaml'])).toEqual([])
  expect(await notices(['script/a.yaml', 'script/b.yaml'])).toEqual([
    'Scripts replay recorded replies. Their prices are recorded, too: nothing is charged.',
  ])
})
