import {
  type AgentLoopStateSnapshot,
  type CallEntry,
  type CallOperation,
  errorTable,
  type ModelEntry,
  type OutcomeStatus,
  type StepOperation,
  type TurnOperation,
  type Usage,
} from '../../contracts/index.ts'
import type { AgentSummary, ModelSummary, ToolSummary } from '../../view/index.ts'
import {
  amount,
  anyOf,
  closed,
  constant,
  count,
  type Fields,
  listOf,
  name,
  oneOf,
  optional,
  ordinal,
  reference,
  type Schema,
  text,
  truth,
} from './shapes.ts'
import { callStatus, itemStatus, toolFailureClass, turnReason } from './words.ts'

// Outcomes, accounting and summaries.

export const usage = closed<Usage>({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  reasoning: count,
  estimated: optional(constant(true)),
})
export const cost: Schema = { description: 'US dollars; `unknown` if a part has no price.', anyOf: [amount, constant('unknown')] }

export const modelEntry = closed<ModelEntry>({
  kind: constant('model'),
  agentPath: name,
  stepId: name,
  attempt: ordinal,
  model: name,
  status: oneOf<ModelEntry['status']>({ completed: true, failed: true }),
  usage: reference('Usage'),
  cost: reference('Cost'),
  latencyMs: amount,
  failure: optional(reference('ModelFailure')),
})
const callFields: Fields<CallEntry> = {
  kind: constant('call'),
  agentPath: name,
  stepId: name,
  itemId: name,
  tool: text,
  namespace: text,
  title: text,
  status: itemStatus,
  bytesIn: count,
  bytesOut: count,
  latencyMs: amount,
  unsandboxed: optional(truth),
  error: optional(toolFailureClass),
}
export const callEntry = closed<CallEntry>(callFields)
export const callOperation = closed<CallOperation>({ ...callFields, status: callStatus, child: optional(reference('TurnOperation')) })
const outcomeStatus = oneOf<OutcomeStatus>({ completed: true, partial: true, failed: true, interrupted: true, suspended: true })
export const turnOperation = closed<TurnOperation>({
  kind: constant('turn'),
  agentPath: name,
  turnId: name,
  status: outcomeStatus,
  durationMs: amount,
  steps: listOf(
    closed<StepOperation>({
      kind: constant('step'),
      stepId: name,
      attempts: listOf(reference('ModelEntry')),
      calls: listOf(reference('CallOperation')),
    }),
  ),
})
export const snapshot = closed<AgentLoopStateSnapshot>({
  version: constant(1),
  sessionId: name,
  seq: ordinal,
  selectedAgent: reference('Agent'),
  skills: listOf(closed<AgentLoopStateSnapshot['skills'][number]>({ id: text, scope: text, path: text, hash: text })),
  tools: listOf(text),
  approvalKeys: listOf(reference('ApprovalKey')),
  policy: text,
  history: listOf(reference('Message')),
  state: { type: 'object', description: 'Internal; may change between versions.' },
})

const counted = { calls: count, failed: count, latencyMs: amount }
export const modelSummary = closed<ModelSummary>({ model: name, ...counted, usage: reference('Usage'), cost: reference('Cost') })
export const toolSummary = closed<ToolSummary>({ tool: text, ...counted, bytesIn: count, bytesOut: count })
export const agentSummary = closed<AgentSummary>(
  {
    agent: name,
    ...counted,
    usage: reference('Usage'),
    cost: reference('Cost'),
    bytesIn: count,
    bytesOut: count,
    models: listOf(reference('ModelSummary')),
    tools: listOf(reference('ToolSummary')),
    agents: listOf(reference('AgentSummary')),
  },
  { description: 'All calls of an agent by one parent. Tokens and cost include its descendants.' },
)

/** The fields of an outcome without its snapshot. */
export const outcomeFields = {
  status: outcomeStatus,
  reason: optional(turnReason),
  message: optional(text),
  remedy: optional(text),
  failure: optional(reference('ModelFailure')),
  code: optional({ enum: Object.keys(errorTable) }),
  sessionId: name,
  turnId: optional(name),
  report: optional(reference('Report')),
  usage: reference('Usage'),
  cost: reference('Cost'),
  accounting: listOf(anyOf(reference('ModelEntry'), reference('CallEntry'))),
  operations: optional(reference('TurnOperation')),
  trace: reference('Trace'),
  diagnostics: listOf(anyOf(reference('StartDiagnostic'), reference('Diagnostic'))),
}
