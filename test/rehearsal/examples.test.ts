import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { conversation, object, text } from './stage.ts'
import { agents, files, maths, office, shop, travel } from './tool-sets.ts'

// What the rehearsal suggests must be something that it understands.

const sets = Object.entries({ travel, files, office, maths, agents, shop })
const alone = sets.flatMap(([set, tools]) => tools.map((tool) => [`${set}: ${tool.name}`, tool] as const))

async function suggested(tools: readonly Tool[]): Promise<string> {
  const { answer } = await conversation(tools).say('tell me a joke')
  return /Try: “(.*)”/.exec(answer)?.[1] ?? ''
}

it.each(alone)('the example for %s calls it', async (_, tool) => {
  const scene = await conversation([tool]).say(await suggested([tool]))
  expect(scene.steps[0]?.[0]?.tool).toBe(tool.name.replace('.', '__'))
})

it.each(sets)('the example among the tools for %s makes a call', async (_, tools) => {
  const scene = await conversation(tools).say(await suggested(tools))
  expect(scene.steps).toHaveLength(1)
})

it('has an example for a tool with many kinds of fields', async () => {
  const tool: Tool = {
    name: 'file_report',
    description: 'Files a report.',
    inputSchema: object({
      title: text,
      to: { ...text, format: 'email' },
      date: { ...text, format: 'date' },
      severity: { ...text, enum: ['mild', 'grave'] },
      pages: { type: 'integer', maximum: 5 },
      url: text,
      code: text,
    }),
    execute: (input) => JSON.stringify(input),
  }
  const scene = await conversation([tool]).say(await suggested([tool]))
  expect(scene.steps).toEqual([
    [
      {
        tool: 'file_report',
        input: {
          title: 'Lunch',
          to: 'anna@example.com',
          date: '2026-05-01',
          severity: 'mild',
          pages: 2,
          url: 'https://example.com',
          code: 'A1',
        },
      },
    ],
  ])
})
