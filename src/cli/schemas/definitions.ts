import {
  type AgentLimits,
  type AgentLoopStateSnapshot,
  type AgentSpec,
  type ApprovalDecision,
  type ApprovalKey,
  type ApprovalPolicy,
  type ApprovalRequest,
  type ApprovalRule,
  type CallEntry,
  type CallIntent,
  type CallOperation,
  type CallPart,
  type CallRecord,
  type CallResult,
  type Diagnostic,
  type Effect,
  errorTable,
  type FilePart,
  type FinishReason,
  type ImagePart,
  type InputContract,
  type Lane,
  type Message,
  type ModelAbility,
  type ModelEntry,
  type ModelFailure,
  type ModelParameters,
  type OutcomeStatus,
  type OutputContract,
  type Plan,
  type PlanIntent,
  type PlanRecord,
  type PlanStatus,
  type PlanStep,
  type Problem,
  type Question,
  type ReasoningEffort,
  type ReasoningPart,
  type ReplyLimit,
  type Report,
  type SandboxPolicy,
  type Severity,
  type SkillCard,
  type SkillScope,
  type StepOperation,
  type TextIntent,
  type TextPart,
  type TextRecord,
  type ToolFailure,
  type Trace,
  type TurnOperation,
  type Usage,
} from '../../contracts/index.ts'
import type { AgentSummary, ModelSummary, ToolSummary } from '../../view/index.ts'
import type { ReportedOutcome } from '../run/run-documents.ts'
import type { StartDiagnostic } from '../team/start-diagnostics.ts'
import {
  callStatus,
  callType,
  diagnosticCode,
  itemStatus,
  modelFailureClass,
  startDiagnosticCode,
  textType,
  toolFailureClass,
  turnReason,
} from './enumerations.ts'
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
  oneOf,
  optional,
  ordinal,
  reference,
  type Schema,
  text,
  truth,
} from './shapes.ts'

type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

// Skills, rules, sandbox policies, approvals and plans.

const patterns = anyOf(name, listOf(name))
const approvalRule = closed<ApprovalRule>({
  allow: optional(patterns),
  ask: optional(patterns),
  deny: optional(patterns),
  reason: optional(text),
})
const sandboxPolicy = closed<SandboxPolicy>({
  mode: oneOf<SandboxPolicy['mode']>({ required: true, off: true }),
  hosts: listOf(name),
  privateHosts: listOf(name),
  writable: listOf(name),
  environment: listOf(name),
  memory: ordinal,
  processes: ordinal,
})
const lane = anyOf(
  closed<Is<Lane, 'kind', 'shared'>>({ kind: constant('shared') }),
  closed<Is<Lane, 'kind', 'exclusive'>>({ kind: constant('exclusive') }),
  closed<Is<Lane, 'kind', 'key'>>({ kind: constant('key'), key: text }),
)

const planFields: Fields<PlanIntent> = { kind: constant('plan'), id: name, type: constant('todo_list'), plan: reference('Plan') }
const planIntent = closed<PlanIntent>(planFields)
const planRecord = closed<PlanRecord>({
  ...planFields,
  status: oneOf<PlanRecord['status']>({ completed: true, failed: true, interrupted: true }),
})

// Agents with their limits, parameters, input and output.

const parameters = closed<ModelParameters>({
  temperature: optional({ type: 'number' }),
  topP: optional({ type: 'number' }),
  maxOutputTokens: optional(ordinal),
  seed: optional({ type: 'integer' }),
  reasoning: optional(oneOf<ReasoningEffort>({ none: true, minimal: true, low: true, medium: true, high: true, xhigh: true })),
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
  replyTimeout: ordinal,
  toolTimeout: ordinal,
  maxRetries: count,
  parallelToolCalls: ordinal,
  maxOutputBytes: ordinal,
  maxCostUsd: optional(amount),
  maxDepth: count,
  maxChildren: count,
  parallelChildren: ordinal,
})
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
  saysToolTimeout: optional(constant(true)),
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

// Items with their intents and records, and messages.

const callIntent = closed<CallIntent>({
  kind: constant('call'),
  id: name,
  type: callType,
  tool: text,
  namespace: text,
  title: text,
  providerCallId: text,
  input: anyObject,
  effect: oneOf<Effect>({ read: true, idempotent: true, write: true }),
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

// Outcomes, accounting and summaries.

const cost: Schema = { description: 'US dollars; `unknown` if a part has no price.', anyOf: [amount, constant('unknown')] }

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
const outcomeStatus = oneOf<OutcomeStatus>({ completed: true, partial: true, failed: true, interrupted: true, suspended: true })

const counted = { calls: count, failed: count, latencyMs: amount }

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

/** Definitions that the published schemas share, by name. */
export const definitions = {
  Agent: agent,
  Limits: { ...limits, description: 'Times are milliseconds.' },
  Parameters: parameters,
  OutputContract: anyOf(
    closed<Is<OutputContract, 'format', 'text' | 'markdown'>>({
      format: oneOf<Is<OutputContract, 'format', 'text' | 'markdown'>['format']>({ text: true, markdown: true }),
    }),
    closed<Is<OutputContract, 'format', 'json'>>({ format: constant('json'), schema: optional(anyObject) }),
  ),
  InputContract: input,
  Usage: closed<Usage>({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: count,
    estimated: optional(constant(true)),
  }),
  Cost: cost,
  ModelFailure: closed<ModelFailure>({
    class: modelFailureClass,
    message: text,
    remedy: optional(text),
    retryAfterMs: optional(amount),
    limit: optional(oneOf<ReplyLimit>({ llmTimeout: true, idleTimeout: true, replyTimeout: true })),
    noAnswer: optional(constant(true)),
    cutBy: optional(oneOf<'tokens' | 'cost'>({ tokens: true, cost: true })),
  }),
  ToolFailure: closed<ToolFailure>({ class: toolFailureClass, message: text, remedy: optional(text) }),
  TurnReason: turnReason,
  Diagnostic: closed<Diagnostic>({
    code: diagnosticCode,
    severity: oneOf<Severity>({ info: true, warning: true, error: true }),
    message: text,
    remedy: optional(text),
  }),
  StartDiagnostic: closed<StartDiagnostic>(
    {
      code: startDiagnosticCode,
      severity: oneOf<Severity>({ info: true, warning: true, error: true }),
      place: text,
      message: text,
      remedy: optional(text),
    },
    { description: 'A diagnostic from before the start, about a setting that is ignored or applied only in part.' },
  ),
  ItemIntent: anyOf(callIntent, closed<TextIntent>({ kind: constant('text'), id: name, type: textType }), planIntent),
  ItemRecord: anyOf(callRecord, textRecord, planRecord),
  Plan: closed<Plan>({
    steps: listOf(closed<PlanStep>({ step: text, status: oneOf<PlanStatus>({ pending: true, in_progress: true, completed: true }) })),
    explanation: optional(text),
  }),
  Skill: closed<SkillCard>({
    name,
    description: text,
    scope: oneOf<SkillScope>({ repo: true, user: true, system: true, admin: true }),
    path: name,
    hash: name,
    displayName: optional(text),
    promptHint: optional(text),
  }),
  CallPart: closed<CallPart>({ type: constant('call'), id: text, name: text, input: text, metadata: optional(anyObject) }),
  InputPart: anyOf(
    textPart,
    closed<ImagePart>({ type: constant('image'), mediaType: text, data: text }),
    closed<FilePart>({ type: constant('file'), mediaType: text, data: text, name: optional(text) }),
  ),
  Message: anyOf(
    closed<Is<Message, 'role', 'user'>>({ role: constant('user'), parts: listOf(reference('InputPart')) }),
    closed<Is<Message, 'role', 'assistant'>>({
      role: constant('assistant'),
      parts: listOf(anyOf(textPart, reasoningPart, reference('CallPart'))),
    }),
    closed<Is<Message, 'role', 'tool'>>({
      role: constant('tool'),
      results: listOf(closed<CallResult>({ id: text, name: text, ok: truth, content: text })),
    }),
  ),
  ApprovalKey: closed<ApprovalKey>({
    key: text,
    label: text,
    use: optional(anyOf(text, listOf(text))),
    aliases: optional(listOf(text)),
    tools: optional(listOf(name)),
    within: optional(listOf(text)),
    isOpaque: optional(truth),
    mustBeNamed: optional(truth),
    isPrefix: optional(truth),
  }),
  ApprovalRequest: closed<ApprovalRequest>({
    id: name,
    itemId: name,
    agentPath: name,
    tool: text,
    summary: text,
    reason: optional(text),
    input: anyObject,
    keys: listOf(reference('ApprovalKey')),
    wider: optional(listOf(reference('ApprovalKey'))),
    diff: optional(text),
    scope: oneOf<ApprovalRequest['scope']>({ call: true, unsandboxed: true, question: true }),
    inside: optional(closed<NonNullable<ApprovalRequest['inside']>>({ error: reference('ToolFailure'), partial: optional(text) })),
    question: optional(closed<Question>({ text, options: optional(listOf(text)) })),
    lane: optional(lane),
  }),
  ApprovalDecision: anyOf(
    closed<Is<ApprovalDecision, 'kind', 'approve'>>({
      kind: constant('approve'),
      breadth: oneOf<Is<ApprovalDecision, 'kind', 'approve'>['breadth']>({ once: true, session: true, project: true }),
      key: optional(text),
    }),
    closed<Is<ApprovalDecision, 'kind', 'answer'>>({ kind: constant('answer'), text }),
    closed<Is<ApprovalDecision, 'kind', 'deny'>>({ kind: constant('deny'), feedback: optional(text) }),
    closed<Is<ApprovalDecision, 'kind', 'abort'>>({ kind: constant('abort') }),
  ),
  FinishReason: oneOf<FinishReason>({
    stop: true,
    'tool-calls': true,
    length: true,
    'content-filter': true,
    error: true,
    other: true,
  }),
  Report: closed<Report>({
    format: oneOf<Report['format']>({ text: true, markdown: true, json: true }),
    text,
    value: optional(anyJson),
  }),
  Trace: closed<Trace>({ originId: name, parentId: optional(name), callPath: text, turnPath: text }),
  ModelEntry: closed<ModelEntry>({
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
  }),
  CallEntry: closed<CallEntry>(callFields),
  CallOperation: closed<CallOperation>({ ...callFields, status: callStatus, child: optional(reference('TurnOperation')) }),
  TurnOperation: closed<TurnOperation>({
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
  }),
  Snapshot: closed<AgentLoopStateSnapshot>({
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
  }),
  ModelSummary: closed<ModelSummary>({ model: name, ...counted, usage: reference('Usage'), cost: reference('Cost') }),
  ToolSummary: closed<ToolSummary>({ tool: text, ...counted, bytesIn: count, bytesOut: count }),
  AgentSummary: closed<AgentSummary>(
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
  ),
  Outcome: closed<ReportedOutcome>(outcomeFields),
  Problem: closed<Problem>({ place: text, message: text, remedy: optional(text), line: optional(text) }),
  ModelAbility: oneOf<ModelAbility>({ tools: true, images: true, files: true, reasoning: true, json_schema: true }),
} satisfies { readonly [name: string]: Schema }
