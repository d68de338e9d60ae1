import { type Plan, type PlanStep, planStatuses } from '../../contracts/index.ts'

/** Tools are third-party code. @throws if the plan is invalid; the call fails. */
export function checkedPlan(plan: Plan): Plan {
  const { steps: given, explanation }: { readonly steps?: unknown; readonly explanation?: unknown } = plan ?? {}
  const steps = Array.isArray(given) ? given.map(readStep) : [undefined]
  if (!steps.every((step) => step !== undefined)) throw new Error('A plan needs steps, each with a text and a status.')
  if (steps.filter(({ status }) => status === 'in_progress').length > 1) throw new Error('At most one step of a plan can be in progress.')
  return typeof explanation === 'string' ? { steps, explanation } : { steps }
}

function readStep(value: unknown): PlanStep | undefined {
  const { step, status: given } = (value ?? {}) as { readonly step?: unknown; readonly status?: unknown }
  const status = planStatuses.find((each) => each === given)
  return typeof step === 'string' && status !== undefined ? { step, status } : undefined
}
