import {
  type JsonObject,
  type PlanStep,
  planStatuses,
  type Tool,
  type ToolContext,
  type ToolFailure,
  type ToolOutput,
} from '../../contracts/index.ts'
import { oneLine } from '../../util/one-line.ts'
import { showValue } from '../../util/show-value.ts'

const mostSteps = 50
/** Compaction keeps the plan word for word, so it must stay short. */
const longestStep = 400
const longestExplanation = 1_000

/** Records the plan of a turn. Each call replaces the whole plan. */
export function updatePlanTool(): Tool {
  return {
    name: 'update_plan',
    description:
      'Record the plan of your work, for yourself and for the user. Send the whole plan each time, in order, with at most one step in_progress.',
    instructions: 'For work of several steps, record a plan with update_plan before you start, and update it after each step.',
    inputSchema,
    // It replaces the whole plan, so a call can be repeated.
    effect: 'read',
    execute: updatePlan,
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    explanation: { type: 'string', maxLength: longestExplanation, description: 'Why this plan, or why it changed.' },
    plan: {
      type: 'array',
      minItems: 1,
      maxItems: mostSteps,
      items: {
        type: 'object',
        properties: {
          step: { type: 'string', minLength: 1, maxLength: longestStep, description: 'The step, in a few words.' },
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
  const steps = (input.plan as unknown as readonly PlanStep[]).map(({ step, status }) => ({ step: oneLine(step), status }))
  const error = faultOf(steps)
  if (error) return { ok: false, error: { class: 'invalid_input', ...error } }
  const explanation = typeof input.explanation === 'string' ? input.explanation.trim() : ''
  context.updatePlan({ steps, ...(explanation !== '' && { explanation }) })
  const done = steps.filter(({ status }) => status === 'completed').length
  const current = steps.find(({ status }) => status === 'in_progress')
  return { ok: true, content: `Plan updated: ${done} of ${steps.length} done${current ? `, now: ${current.step}` : ''}.` }
}

function faultOf(steps: readonly PlanStep[]): Omit<ToolFailure, 'class'> | undefined {
  const blank = steps.findIndex(({ step }) => step === '')
  if (blank >= 0) return { message: `Step ${blank + 1} is empty.`, remedy: 'Describe the step, or leave it out.' }
  const first = new Map<string, number>()
  for (const [index, { step }] of steps.entries()) {
    const before = first.get(step)
    if (before !== undefined) {
      const message = `Steps ${before + 1} and ${index + 1} are the same: ${showValue(step)}.`
      return { message, remedy: 'Remove one of them, or describe the difference.' }
    }
    first.set(step, index)
  }
  const current = steps.flatMap(({ status }, index) => (status === 'in_progress' ? [index + 1] : []))
  if (current.length <= 1) return undefined
  const message = `Steps ${current.join(', ')} are in_progress, but only one may be.`
  return { message, remedy: 'Mark only the current step; the others are pending or completed.' }
}
