import { type Plan, type PlanStep, planStatuses } from '../../contracts/index.ts'

/** Tools are other people's code: a plan that is none costs the call. @throws with what is wrong. */
export function checkedPlan(plan: Plan): Plan {
  const { steps: given, explanation }: { readonly steps?: unknown; readonly explanation?: unknown } = plan ?? {}
  // Read once: what is checked is what is kept.
  const steps = Array.isArray(given) ? given.map(readStep) : [undefined]
  if (!steps.every((step) => step !== undefined)) throw new Error('A plan has steps, each with a text and a status.')
  if (steps.filter(({ status }) => status === 'in_progress').length > 1) throw new Error('Of a plan at most one step is in progress.')
  return typeof explanation === 'string' ? { steps, explanation } : { steps }
}

function readStep(value: unknown): PlanStep | undefined {
  const { step, status: given } = (value ?? {}) as { readonly step?: unknown; readonly status?: unknown }
  const status = planStatuses.find((each) => each === given)
  return typeof step === 'string' && status !== undefined ? { step, status } : undefined
}
