import { expect, it } from 'vitest'
import { readServerTools } from './server-tools.ts'

it('a schema that is nested too deeply costs its tool only', () => {
  const deep = JSON.parse(`${'{"not":'.repeat(20_000)}{}${'}'.repeat(20_000)}`)
  const listed = [
    { name: 'deep', inputSchema: { type: 'object', not: deep } },
    { name: 'good', inputSchema: { type: 'object' } },
  ]
  const { tools, leftOut } = readServerTools(listed, { server: 'srv', filter: undefined, hasHeaders: true })
  expect(tools.map(({ name }) => name)).toEqual(['good'])
  expect(leftOut).toEqual([{ name: 'deep', reason: 'it is nested too deeply' }])
})
