import { type Plan, type PlanStep, planStatuses } from '../contracts/index.ts'

/** Tools are other people's code: a plan that is none costs the call. @throws with what is wrong. */
export function checkedPlan(plan: Plan): Plan {
  if (!Array.isArray(plan?.steps) || !plan.steps.every(isStep)) throw new Error('A plan has steps, each with a text and a status.')
  if (plan.steps.filter(({ status }) => status === 'in_progress').length > 1) throw new Error('Of a plan at most one step is in progress.')
  const steps = plan.steps.map(({ step, status }) => ({ step, status }))
  return typeof plan.explanation === 'string' ? { steps, explanation: plan.explanation } : { steps }
}

function isStep(value: unknown): value is PlanStep {
  const { step, status } = (value ?? {}) as { step?: unknown; status?: unknown }
  return typeof step === 'string' && (planStatuses as readonly unknown[]).includes(status)
}
