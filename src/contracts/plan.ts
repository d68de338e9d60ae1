export const planStatuses = ['pending', 'in_progress', 'completed'] as const
export type PlanStatus = (typeof planStatuses)[number]

export interface PlanStep {
  readonly step: string
  readonly status: PlanStatus
}

/** The plan of an agent. At most one step is in progress. */
export interface Plan {
  readonly steps: readonly PlanStep[]
  readonly explanation?: string
}
