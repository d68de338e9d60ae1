import { describe, expect, it } from 'vitest'
import type { JsonObject, PlanStatus } from '../../../src/contracts/index.ts'
import { toolContract } from '../../../src/testing/index.ts'
import { updatePlanTool } from '../../../src/tools/builtin/update-plan.ts'
import { schemaValidator } from '../../../src/tools/index.ts'
import { checkSchema } from '../../../src/util/json-schema/check-schema.ts'
import { toolContext } from './context.ts'

const tool = updatePlanTool()
const step = (name: string, status: PlanStatus = 'pending') => ({ step: name, status })
const failure = async (input: JsonObject) => {
  const context = toolContext()
  const output = await tool.execute(input, context)
  expect(context.plans).toEqual([])
  return typeof output === 'string' || output.ok ? output : output.error
}

describe('update_plan', () => {
  for (const { name, run } of toolContract(tool, {
    good: { plan: [step('look', 'in_progress')] },
    bad: { plan: [step('a'), step('a')] },
    context: toolContext(),
  }))
    it(name, run)

  it('may run again, and has a sound schema', () => {
    expect([tool.name, tool.effect, checkSchema(tool.inputSchema, tool.name)]).toEqual(['update_plan', 'read', []])
  })

  it('puts the plan in place of the one before', async () => {
    const context = toolContext()
    const plan = [step('look', 'completed'), step('  write\n it down ', 'in_progress'), step('tell')]
    expect(await tool.execute({ plan, explanation: ' So that it is done. ' }, context)).toEqual({
      ok: true,
      content: 'Plan updated: 1 of 3 done, now: write it down.',
    })
    expect(await tool.execute({ plan: [step('rest')], explanation: ' ' }, context)).toEqual({
      ok: true,
      content: 'Plan updated: 0 of 1 done.',
    })
    expect(context.plans).toEqual([
      {
        steps: [step('look', 'completed'), step('write it down', 'in_progress'), step('tell')],
        explanation: 'So that it is done.',
      },
      { steps: [step('rest')] },
    ])
  })

  it('has at most one step in progress', async () => {
    expect(await failure({ plan: [step('a', 'in_progress'), step('b'), step('c', 'in_progress')] })).toEqual({
      class: 'invalid_input',
      message: 'Steps 1, 3 are in_progress, but only one may be.',
      remedy: 'Mark only the current step; the others are pending or completed.',
    })
  })

  it.each([
    ['an empty step', [step('a'), step(' \n ')], 'Step 2 is empty.'],
    ['a step twice', [step('do it'), step('b'), step('do  it', 'completed')], 'Steps 1 and 3 are the same: "do it".'],
  ])('refuses %s', async (_what, plan, message) => {
    expect(await failure({ plan })).toMatchObject({ class: 'invalid_input', message, remedy: expect.stringMatching(/\.$/) })
  })

  it('has 1 to 50 steps by its schema', () => {
    expect(tool.inputSchema).toMatchObject({ properties: { plan: { minItems: 1, maxItems: 50 } } })
  })

  it('takes no other status, no longer step and no other key', async () => {
    const validate = await schemaValidator().compile(tool.inputSchema)
    const inputs = [
      { plan: [{ step: 'a', status: 'done' }] },
      { plan: [step('a'.repeat(401))] },
      { plan: [{ ...step('a'), note: '' }] },
      { plan: [], why: '' },
    ]
    expect(await Promise.all(inputs.map(validate))).toMatchObject(inputs.map(() => ({ ok: false })))
    expect(await validate({ plan: [step('a')] })).toMatchObject({ ok: true })
  })
})
