import { expect, test } from 'vitest'
import { schemaErrors } from '../../src/project/open-project.ts'
import { agentsOf, child, folder } from './folder.ts'

const schema =
  '{ type: object, required: [company], properties: { company: { type: string }, insights: { type: array, items: { type: string } } } }'

const files = Object.fromEntries(
  Array.from({ length: 1000 }, (_, i) => {
    const calls = i % 10 === 0 ? `agents: [${Array.from({ length: 9 }, (__, k) => `./a${i + k + 1}.ai`).join(', ')}]\n` : ''
    const settings = `toolName: research.a${i}\n${calls}input: { schema: ${schema} }\nlimits: { maxToolTurns: 6, llmTimeout: 2m }`
    return [`agents/a${i}.ai`, child(settings).replace('{ format: text }', `{ schema: ${schema} }`)]
  }),
)
const project = folder({ ...files, '.ai-agent.json': { agents: ['./agents'] } })
const loading = project.load([], { scope: 'everything' })

/** Milliseconds of the processor, which other processes do not lengthen as they do the time of day. */
async function work<T>(doing: () => Promise<T>): Promise<{ readonly result: T; readonly spent: number }> {
  const before = process.cpuUsage()
  const result = await doing()
  const { user, system } = process.cpuUsage(before)
  return { result, spent: (user + system) / 1000 }
}

test('a thousand agent files are found, read and checked', async () => {
  expect(agentsOf(await loading)).toHaveLength(1000)
})

test('schemas that many agents share are compiled once', async () => {
  const { readable: said } = await loading
  // What is loaded at the first use is not what is measured.
  await schemaErrors(said.slice(0, 1))
  const { result: errors, spent } = await work(() => schemaErrors(said))
  expect([said.length, errors]).toEqual([1000, []])
  // A thousand compilations take more than a second.
  expect(spent).toBeLessThan(600)
})
