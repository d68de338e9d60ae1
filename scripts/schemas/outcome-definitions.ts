import type { CommandError } from '../../src/cli/commands/output/error-documents.ts'
import type { ReportedOutcome } from '../../src/cli/commands/output/run-documents.ts'
import type { EndRequest } from '../../src/cli/terminal/process-host.ts'
import {
  type AgentLoopStateSnapshot,
  type CallEntry,
  type CallOperation,
  type Diagnostic,
  errorTable,
  type ModelEntry,
  type ModelFailure,
  type OutcomeStatus,
  type Problem,
  type ReplyLimit,
  type Report,
  type Severity,
  type Speaker,
  type StepOperation,
  type Trace,
  type TurnOperation,
  type Usage,
} from '../../src/contracts/index.ts'
import { turnEndTexts } from '../../src/policy/limit-texts.ts'
import type { StartDiagnostic } from '../../src/project/index.ts'
import type { AgentSummary, Denial, ModelSummary, ToolSummary } from '../../src/view/index.ts'
import {
  callStatus,
  diagnosticCode,
  itemStatus,
  modelFailureClass,
  startDiagnosticCode,
  toolFailureClass,
  turnReason,
} from './enumerations.ts'
import {
  amount,
  anyJson,
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
const diagnosticFields = { severity: oneOf<Severity>({ info: true, warning: true, error: true }), message: text, remedy: optional(text) }

/** The fields of an outcome that a running session has, too. */
export const progressFields = {
  sessionId: name,
  turnId: optional(name),
  report: optional(reference('Report')),
  speaker: optional(closed<Speaker>({ sessionId: name, agentPath: name, agent: name })),
  usage: reference('Usage'),
  cost: reference('Cost'),
  accounting: listOf(anyOf(reference('ModelEntry'), reference('CallEntry'))),
  operations: optional(reference('TurnOperation')),
  trace: reference('Trace'),
  diagnostics: listOf(anyOf(reference('StartDiagnostic'), reference('Diagnostic'))),
}

/** The fields of an outcome without its snapshot. */
export const outcomeFields = {
  status: outcomeStatus,
  reason: optional(turnReason),
  message: optional(text),
  remedy: optional(text),
  failure: optional(reference('ModelFailure')),
  code: optional({ enum: Object.keys(errorTable) }),
  ...progressFields,
}

const endRequests = { interrupted: true, terminated: true, hangup: true, pipe: true } satisfies { readonly [Request in EndRequest]: true }

/** Outcomes, failures, accounting, snapshots and summaries. */
export const outcomeDefinitions = {
  Usage: closed<Usage>({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: count,
    estimated: optional(constant(true)),
  }),
  Cost: { description: 'US dollars; `unknown` if a part has no price.', anyOf: [amount, constant('unknown')] },
  ModelFailure: closed<ModelFailure>({
    class: modelFailureClass,
    message: text,
    remedy: optional(text),
    retryAfterMs: optional(amount),
    limit: optional(oneOf<ReplyLimit>({ llmTimeout: true, idleTimeout: true, replyTimeout: true })),
    noAnswer: optional(constant(true)),
    unsent: optional(constant(true)),
    withheld: optional(constant(true)),
    cutBy: optional(oneOf<'tokens' | 'cost'>({ tokens: true, cost: true })),
  }),
  TurnReason: turnReason,
  Diagnostic: closed<Diagnostic>({ code: diagnosticCode, ...diagnosticFields }),
  StartDiagnostic: closed<StartDiagnostic>(
    {
      code: startDiagnosticCode,
      place: text,
      ...diagnosticFields,
    },
    { description: 'A diagnostic from before the start, about a setting that is ignored or applied only in part.' },
  ),
  Report: closed<Report>({ format: oneOf<Report['format']>({ text: true, markdown: true, json: true }), text, value: optional(anyJson) }),
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
  CallOperation: closed<CallOperation>({
    ...callFields,
    status: callStatus,
    child: optional(reference('TurnOperation')),
    earlier: optional(listOf(reference('TurnOperation'))),
  }),
  TurnOperation: closed<TurnOperation>({
    kind: constant('turn'),
    agentPath: name,
    turnId: name,
    status: outcomeStatus,
    durationMs: amount,
    waitedMs: amount,
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
      waitedMs: amount,
      models: listOf(reference('ModelSummary')),
      tools: listOf(reference('ToolSummary')),
      agents: listOf(reference('AgentSummary')),
    },
    { description: 'All calls of an agent by one parent. Tokens and cost include its descendants.' },
  ),
  Denial: closed<Denial>(
    { agentPath: name, tool: text, kind: oneOf<Denial['kind']>({ decided: true, unavailable: true }), by: text, message: text },
    { description: 'A call that was not allowed. `unavailable`: nobody could be asked. `decided`: by a person or a rule.' },
  ),
  Outcome: closed<ReportedOutcome>(outcomeFields),
  CommandError: closed<CommandError>(
    {
      code: { enum: [...new Set([...Object.keys(errorTable), ...Object.keys(endRequests), ...Object.keys(turnEndTexts)])] },
      message: text,
      remedy: optional(text),
      problems: listOf(reference('Problem')),
    },
    { description: 'Why the exit code is not 0. Every document of `--json` with `ok: false` has it as `error`.' },
  ),
  Problem: closed<Problem>({ place: text, message: text, remedy: optional(text), line: optional(text) }),
} satisfies { readonly [name: string]: Schema }
