import {
  type JsonObject,
  type PlanStep,
  planStatuses,
  type Tool,
  type ToolContext,
  type ToolFailure,
  type ToolOutput,
} from '../../contracts/index.ts'
import { showValue } from '../../util/show-value.ts'

const updatePlanName = 'update_plan'

const mostSteps = 50
/** The plan is kept word for word when a history is shortened, so it must not be a history itself. */
const longestStep = 400
const longestExplanation = 1_000

/** Keeps the plan of a turn. Each call puts a whole plan in place of the one before. */
export function updatePlanTool(): Tool {
  return {
    name: updatePlanName,
    description:
      'Keeps the plan of your work, for yourself and for the people who watch. Give the whole plan each time, in order; at most one step is in_progress.',
    instructions:
      'For work of several steps, write down a plan with update_plan before you begin, and bring it up to date whenever a step is done.',
    inputSchema,
    // All that it changes is the plan, which is told as it is: there is nothing that must not be repeated.
    effect: 'read',
    execute: updatePlan,
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    explanation: { type: 'string', maxLength: longestExplanation, description: 'Why the plan is as it is, or has changed.' },
    plan: {
      type: 'array',
      minItems: 1,
      maxItems: mostSteps,
      items: {
        type: 'object',
        properties: {
          step: { type: 'string', minLength: 1, maxLength: longestStep, description: 'What is to be done, in a few words.' },
          status: { type: 'string', enum: planStatuses },
        },
        required: ['step', 'status'],
        additionalProperties: false,
      },
    },
  },
  required: ['plan'],
  additionalProperties: false,
}

function updatePlan(input: JsonObject, context: ToolContext): ToolOutput {
  const steps = ((input.plan ?? []) as unknown as readonly PlanStep[]).map(({ step, status }) => ({ step: oneLine(step), status }))
  const error = faultOf(steps)
  if (error) return { ok: false, error: { class: 'invalid_input', ...error } }
  const explanation = typeof input.explanation === 'string' ? input.explanation.trim() : ''
  context.updatePlan({ steps, ...(explanation !== '' && { explanation }) })
  const done = steps.filter(({ status }) => status === 'completed').length
  const current = steps.find(({ status }) => status === 'in_progress')
  return { ok: true, content: `The plan is updated: ${done} of ${steps.length} done${current ? `, now: ${current.step}` : ''}.` }
}

function faultOf(steps: readonly PlanStep[]): Omit<ToolFailure, 'class'> | undefined {
  if (steps.length === 0 || steps.length > mostSteps)
    return { message: `A plan has 1 to ${mostSteps} steps, not ${steps.length}.`, remedy: 'Put small steps together into larger ones.' }
  const blank = steps.findIndex(({ step }) => step === '')
  if (blank >= 0) return { message: `Step ${blank + 1} is empty.`, remedy: 'Say what is to be done, or leave the step out.' }
  const first = new Map<string, number>()
  for (const [index, { step }] of steps.entries()) {
    const before = first.get(step)
    if (before !== undefined) {
      const message = `Steps ${before + 1} and ${index + 1} are the same: ${showValue(step)}.`
      return { message, remedy: 'Leave one of them out, or say how they differ.' }
    }
    first.set(step, index)
  }
  const current = steps.flatMap(({ status }, index) => (status === 'in_progress' ? [index + 1] : []))
  if (current.length <= 1) return undefined
  const message = `Steps ${current.join(', ')} are in_progress, and only one may be.`
  return { message, remedy: 'Mark the one that you work on; the others are pending or completed.' }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
