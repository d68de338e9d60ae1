import type { CallId, Plan, ToolContext } from '../../../src/contracts/index.ts'
import { somePlace } from '../../fixtures/session-place.ts'

/** What a tool is given, with what it puts down as its plan. */
export function toolContext(more: Partial<ToolContext> = {}): ToolContext & { readonly plans: Plan[] } {
  const plans: Plan[] = []
  return {
    ...somePlace,
    agent: 'clerk',
    signal: new AbortController().signal,
    callId: 'c1' as CallId,
    attempt: 1,
    overlay: {},
    remaining: { steps: 1 },
    confinement: { kind: 'none' },
    maxOutputBytes: 32_768,
    storedOutput: async () => undefined,
    searchableTools: () => [],
    agents: [],
    mayUse: () => true,
    ask: async () => ({ kind: 'cancel' }),
    sample: async () => ({ ok: false, error: { class: 'config', message: 'There is no model here.' } }),
    startChild: () => Promise.reject(new Error('no children here')),
    skills: [],
    progress() {},
    output() {},
    updatePlan: (plan) => plans.push(plan),
    plans,
    ...more,
  }
}
