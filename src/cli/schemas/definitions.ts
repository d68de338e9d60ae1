import type {
  AgentLimits,
  AgentLoopStateSnapshot,
  AgentSpec,
  ApprovalPolicy,
  CallEntry,
  CallIntent,
  CallOperation,
  CallPart,
  CallRecord,
  CallResult,
  Diagnostic,
  DiagnosticCode,
  Effect,
  FilePart,
  FinishReason,
  ImagePart,
  InputContract,
  ItemStatus,
  Lane,
  Message,
  ModelAbility,
  ModelEntry,
  ModelFailure,
  ModelFailureClass,
  ModelParameters,
  Outcome,
  OutcomeStatus,
  OutputContract,
  Problem,
  ReasoningEffort,
  ReasoningPart,
  Report,
  Severity,
  StepOperation,
  TextIntent,
  TextItemType,
  TextPart,
  TextRecord,
  ToolFailure,
  ToolFailureClass,
  Trace,
  TurnOperation,
  TurnReason,
  Usage,
} from '../../contracts/index.ts'
import type { AgentSummary, ModelSummary, ToolSummary } from '../../util/run-summary.ts'
import {
  approvalDecision,
  approvalKey,
  approvalRequest,
  approvalRule,
  plan,
  planIntent,
  planRecord,
  sandboxPolicy,
  skill,
} from './policies.ts'
import {
  amount,
  anyJson,
  anyObject,
  anyOf,
  closed,
  constant,
  count,
  type Fields,
  listOf,
  name,
  oneWord,
  optional,
  ordinal,
  reference,
  type Schema,
  text,
  truth,
} from './shapes.ts'

type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

const usage = closed<Usage>({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  reasoning: count,
  estimated: optional(constant(true)),
})
const cost: Schema = { description: 'US dollars; unknown where a part of it has no price.', anyOf: [amount, constant('unknown')] }

const parameters = closed<ModelParameters>({
  temperature: optional({ type: 'number' }),
  topP: optional({ type: 'number' }),
  maxOutputTokens: optional(ordinal),
  seed: optional({ type: 'integer' }),
  reasoning: optional(oneWord<ReasoningEffort>({ none: true, minimal: true, low: true, medium: true, high: true, xhigh: true })),
  cache: optional(truth),
})
const limits = closed<AgentLimits>({
  maxToolTurns: ordinal,
  maxTokens: optional(ordinal),
  maxSessionTokens: optional(ordinal),
  maxCalls: optional(count),
  timeBudget: optional(ordinal),
  llmTimeout: ordinal,
  idleTimeout: ordinal,
  toolTimeout: ordinal,
  maxRetries: count,
  parallelToolCalls: ordinal,
  maxOutputBytes: ordinal,
  maxCostUsd: optional(amount),
  maxDepth: count,
  maxChildren: count,
  parallelChildren: ordinal,
})
const output = anyOf(
  closed<Is<OutputContract, 'format', 'text' | 'markdown'>>({
    format: oneWord<Is<OutputContract, 'format', 'text' | 'markdown'>['format']>({ text: true, markdown: true }),
  }),
  closed<Is<OutputContract, 'format', 'json'>>({ format: constant('json'), schema: optional(anyObject) }),
)
const input = anyOf(
  closed<Is<InputContract, 'format', 'text'>>({ format: constant('text') }),
  closed<Is<InputContract, 'format', 'json'>>({ format: constant('json'), schema: anyObject }),
)
const agent = closed<AgentSpec>({
  name,
  displayName: optional(text),
  description: name,
  prompt: name,
  models: listOf(name),
  tools: listOf(text),
  limits: reference('Limits'),
  parameters: reference('Parameters'),
  output: reference('OutputContract'),
  usage: optional(text),
  toolName: name,
  input: reference('InputContract'),
  agents: listOf(name),
  skills: optional(listOf(reference('Skill'))),
  approvals: optional(listOf(approvalRule)),
  bounds: optional(listOf(closed<ApprovalPolicy>({ name: optional(text), rules: listOf(approvalRule) }))),
  sandbox: optional({ ...sandboxPolicy, required: [] }),
})

export const modelFailureClass = oneWord<ModelFailureClass>({
  rate_limit: true,
  auth: true,
  quota: true,
  network: true,
  timeout: true,
  invalid_response: true,
  model: true,
  config: true,
  context: true,
  budget: true,
  cancelled: true,
  lost: true,
})
export const toolFailureClass = oneWord<ToolFailureClass>({
  unknown_tool: true,
  invalid_input: true,
  blocked: true,
  repeated: true,
  denied: true,
  budget: true,
  timeout: true,
  cancelled: true,
  sandbox: true,
  sandbox_unavailable: true,
  config: true,
  auth: true,
  network: true,
  model: true,
  failed: true,
})
const turnReason = oneWord<TurnReason>({
  steps: true,
  tokens: true,
  cost: true,
  time: true,
  calls: true,
  context: true,
  repeats: true,
  hook: true,
  stopped: true,
  interrupted: true,
  approval: true,
  denied: true,
  model: true,
  invalid_output: true,
  config: true,
  store: true,
  internal: true,
})
const diagnosticCode = oneWord<DiagnosticCode>({
  agent_changed: true,
  answer_truncated: true,
  queue_late: true,
  approval_late: true,
  call_unknown: true,
  compaction_failed: true,
  compaction_poor: true,
  grant_not_kept: true,
  hook_overruled: true,
  message_invalid: true,
  model_notice: true,
  policy_changed: true,
  sandbox_off: true,
  skill_changed: true,
  skill_missing: true,
  skills_cut: true,
  tool_missing: true,
})

const itemStatus = oneWord<ItemStatus>({
  completed: true,
  failed: true,
  declined: true,
  interrupted: true,
  skipped: true,
  unknown: true,
})
const callType = oneWord<CallIntent['type']>({
  tool_call: true,
  command_execution: true,
  file_change: true,
  mcp_tool_call: true,
  subagent_call: true,
})
const textType = oneWord<TextItemType>({ agent_message: true, reasoning: true, error: true })

const lane = anyOf(
  closed<Is<Lane, 'kind', 'shared'>>({ kind: constant('shared') }),
  closed<Is<Lane, 'kind', 'exclusive'>>({ kind: constant('exclusive') }),
  closed<Is<Lane, 'kind', 'key'>>({ kind: constant('key'), key: text }),
)
const callIntent = closed<CallIntent>({
  kind: constant('call'),
  id: name,
  type: callType,
  tool: text,
  namespace: text,
  title: text,
  providerCallId: text,
  input: anyObject,
  effect: oneWord<Effect>({ read: true, idempotent: true, write: true }),
  lane,
  details: optional(anyObject),
  approved: optional(closed<NonNullable<CallIntent['approved']>>({ by: text })),
  answer: optional(text),
})
const callRecord = closed<CallRecord>({
  kind: constant('call'),
  id: name,
  type: callType,
  status: itemStatus,
  content: text,
  value: optional(anyJson),
  error: optional(reference('ToolFailure')),
  output: optional(closed<NonNullable<CallRecord['output']>>({ handle: name, bytes: count })),
  latencyMs: amount,
  bytesIn: count,
  bytesOut: count,
})
const textRecord = closed<TextRecord>({
  kind: constant('text'),
  id: name,
  type: textType,
  status: itemStatus,
  text,
  metadata: optional(anyObject),
})

const textPart = closed<TextPart>({ type: constant('text'), text, metadata: optional(anyObject) })
const reasoningPart = closed<ReasoningPart>({ type: constant('reasoning'), text, metadata: optional(anyObject) })
const callPart = closed<CallPart>({ type: constant('call'), id: text, name: text, input: text, metadata: optional(anyObject) })
const inputPart = anyOf(
  textPart,
  closed<ImagePart>({ type: constant('image'), mediaType: text, data: text }),
  closed<FilePart>({ type: constant('file'), mediaType: text, data: text, name: optional(text) }),
)
const message = anyOf(
  closed<Is<Message, 'role', 'user'>>({ role: constant('user'), parts: listOf(reference('InputPart')) }),
  closed<Is<Message, 'role', 'assistant'>>({
    role: constant('assistant'),
    parts: listOf(anyOf(textPart, reasoningPart, reference('CallPart'))),
  }),
  closed<Is<Message, 'role', 'tool'>>({
    role: constant('tool'),
    results: listOf(closed<CallResult>({ id: text, name: text, ok: truth, content: text })),
  }),
)

const modelEntry = closed<ModelEntry>({
  kind: constant('model'),
  agentPath: name,
  stepId: name,
  attempt: ordinal,
  model: name,
  status: oneWord<ModelEntry['status']>({ completed: true, failed: true }),
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
const callEntry = closed<CallEntry>(callFields)
const callOperation = closed<CallOperation>({ ...callFields, child: optional(reference('TurnOperation')) })
const outcomeStatus = oneWord<OutcomeStatus>({ completed: true, partial: true, failed: true, interrupted: true, suspended: true })
const turnOperation = closed<TurnOperation>({
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
const snapshot = closed<AgentLoopStateSnapshot>({
  version: constant(1),
  treeId: name,
  sessionId: name,
  seq: ordinal,
  selectedAgent: reference('Agent'),
  skills: listOf(closed<AgentLoopStateSnapshot['skills'][number]>({ id: text, scope: text, path: text, hash: text })),
  tools: listOf(text),
  approvalKeys: listOf(reference('ApprovalKey')),
  policy: text,
  history: listOf(reference('Message')),
  state: { type: 'object', description: 'Its shape is not part of the contract.' },
})

/** Everything about an outcome but its snapshot. */
const counted = { calls: count, failed: count, latencyMs: amount }
const modelSummary = closed<ModelSummary>({ model: name, ...counted, usage: reference('Usage'), cost: reference('Cost') })
const toolSummary = closed<ToolSummary>({ tool: text, ...counted, bytesIn: count, bytesOut: count })
const agentSummary = closed<AgentSummary>(
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
  { description: 'An agent wherever one parent has called it. Tokens and cost are with all that is below it.' },
)

export const outcomeFields = {
  status: outcomeStatus,
  reason: optional(turnReason),
  message: optional(text),
  remedy: optional(text),
  failure: optional(reference('ModelFailure')),
  treeId: name,
  sessionId: name,
  turnId: optional(name),
  report: optional(reference('Report')),
  usage: reference('Usage'),
  cost: reference('Cost'),
  accounting: listOf(anyOf(reference('ModelEntry'), reference('CallEntry'))),
  operations: optional(reference('TurnOperation')),
  trace: reference('Trace'),
  diagnostics: listOf(reference('Diagnostic')),
}

/** What several schemas share, by name. */
export const definitions = {
  Agent: agent,
  Limits: { ...limits, description: 'Times are milliseconds.' },
  Parameters: parameters,
  OutputContract: output,
  InputContract: input,
  Usage: usage,
  Cost: cost,
  ModelFailure: closed<ModelFailure>({
    class: modelFailureClass,
    message: text,
    remedy: optional(text),
    retryAfterMs: optional(amount),
  }),
  ToolFailure: closed<ToolFailure>({ class: toolFailureClass, message: text, remedy: optional(text) }),
  TurnReason: turnReason,
  Diagnostic: closed<Diagnostic>({
    code: diagnosticCode,
    severity: oneWord<Severity>({ info: true, warning: true, error: true }),
    message: text,
    remedy: optional(text),
  }),
  ItemIntent: anyOf(callIntent, closed<TextIntent>({ kind: constant('text'), id: name, type: textType }), planIntent),
  ItemRecord: anyOf(callRecord, textRecord, planRecord),
  Plan: plan,
  Skill: skill,
  CallPart: callPart,
  InputPart: inputPart,
  Message: message,
  ApprovalKey: approvalKey,
  ApprovalRequest: approvalRequest,
  ApprovalDecision: approvalDecision,
  FinishReason: oneWord<FinishReason>({
    stop: true,
    'tool-calls': true,
    length: true,
    'content-filter': true,
    error: true,
    other: true,
  }),
  Report: closed<Report>({
    format: oneWord<Report['format']>({ text: true, markdown: true, json: true }),
    text,
    value: optional(anyJson),
  }),
  Trace: closed<Trace>({ originId: name, parentId: optional(name), callPath: text, turnPath: text }),
  ModelEntry: modelEntry,
  CallEntry: callEntry,
  CallOperation: callOperation,
  TurnOperation: turnOperation,
  Snapshot: snapshot,
  ModelSummary: modelSummary,
  ToolSummary: toolSummary,
  AgentSummary: agentSummary,
  Outcome: closed<Omit<Outcome, 'snapshot'>>(outcomeFields),
  Problem: closed<Problem>({ place: text, message: text, remedy: optional(text), line: optional(text) }),
  ModelAbility: oneWord<ModelAbility>({ tools: true, images: true, files: true, reasoning: true, json_schema: true }),
} satisfies { readonly [name: string]: Schema }
