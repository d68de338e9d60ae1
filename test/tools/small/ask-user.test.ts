import { describe, expect, it } from 'vitest'
import { toolContract } from '../../../src/testing/index.ts'
import { askUserTool } from '../../../src/tools/builtin/ask-user.ts'
import { checkSchema } from '../../../src/util/json-schema/check-schema.ts'
import { toolContext } from './context.ts'

const tool = askUserTool()

describe('ask_user', () => {
  for (const { name, run } of toolContract(tool, { good: { question: 'Which?' }, context: { answer: 'this' } })) it(name, run)

  it('is a read with a sound schema', () => {
    expect([tool.name, tool.effect, checkSchema(tool.inputSchema, tool.name)]).toEqual(['ask_user', 'read', []])
  })

  it('asks by the way of approvals, with nothing that a rule could allow', async () => {
    expect(await tool.approval?.({ question: ' Which colour? ', options: ['red', ' blue '] })).toEqual({
      summary: 'Which colour?',
      keys: [],
      question: { text: 'Which colour?', options: ['red', 'blue'] },
    })
    expect(await tool.approval?.({ question: 'Why?' })).toEqual({ summary: 'Why?', keys: [], question: { text: 'Why?' } })
  })

  it('answers what the person said', async () => {
    expect(await tool.execute({ question: 'Which?' }, toolContext({ answer: 'neither' }))).toEqual({ ok: true, content: 'neither' })
    expect(await tool.execute({ question: 'Which?' }, toolContext({ answer: ' ' }))).toEqual({ ok: true, content: 'The answer is empty.' })
  })

  it('reports that nobody was there', async () => {
    expect(await tool.execute({ question: 'Which?' }, toolContext())).toEqual({
      ok: false,
      error: {
        class: 'failed',
        message: 'Nobody answered.',
        remedy: 'Continue with the most likely answer, state your assumption, and do nothing irreversible.',
      },
    })
  })
})
