import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { chatParameters } from './chat-parameters.ts'
import { checkParameters, parameterRows } from './parameters.ts'
import { responseParameters } from './response-parameters.ts'

const agent = { overrides: ['topP'], parameters: { temperature: 0.5 } } as const

it('are documented in docs/openai.md', () => {
  const page = readFileSync(new URL('../../../docs/openai.md', import.meta.url), 'utf8')
  const rows = new Set([...parameterRows(chatParameters), ...parameterRows(responseParameters)])
  const shown = page.match(/^\| `\w+` \| (?:used|ignored|refused|overrides `\w+`) \|.*$/gm)
  expect(shown?.toSorted()).toEqual([...rows].toSorted())
})

it('of an object with inherited names are unknown', () => {
  for (const name of ['constructor', 'toString', '__proto__'])
    expect(checkParameters(JSON.parse(`{"${name}": 1}`), { table: chatParameters, agent }).ignored).toEqual([name])
})

it('are ignored only if they would change something', () => {
  const check = (body: object) => checkParameters(body, { table: chatParameters, agent })
  expect(check({ temperature: 0.5, top_p: 0.1, seed: 1 })).toEqual({ parameters: { topP: 0.1 }, ignored: ['seed'] })
})
