import { expect, test } from 'vitest'
import { agentsOf, child, folder } from './folder.ts'

const schema =
  '{ type: object, required: [company], properties: { company: { type: string }, insights: { type: array, items: { type: string } } } }'

test('a thousand agent files are found, read and checked in less than a second of work', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => {
      const calls = i % 10 === 0 ? `agents: [${Array.from({ length: 9 }, (__, k) => `./a${i + k + 1}.ai`).join(', ')}]\n` : ''
      const settings = `toolName: research.a${i}\n${calls}input: { schema: ${schema} }\nlimits: { maxToolTurns: 6, llmTimeout: 2m }`
      return [`agents/a${i}.ai`, child(settings).replace('{ format: text }', `{ schema: ${schema} }`)]
    }),
  )
  const { load } = folder({ ...files, '.ai-agent.json': { agents: ['./agents'] } })
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    expect(agentsOf(await load([], { scope: 'everything' }))).toHaveLength(1000)
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
  }
  expect(Math.min(...times)).toBeLessThan(1000)
})
