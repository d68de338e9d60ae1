import type { ReportedOutcome, RunEnd } from '../../src/cli/commands/output/run-documents.ts'
import {
  type Carried,
  type CheckedOutput,
  type ChildEnd,
  type EffectBundle,
  type Envelope,
  type EventType,
  type HandoffReason,
  type InteractionEvent,
  type ItemDelta,
  type LastStepReason,
  type ParentCall,
  type PartialReason,
  type Principal,
  principalKinds,
  type QueueEvent,
  type RecordedOffer,
  type ReplyRef,
  type RunFlag,
  type RunOrigin,
  type TokenPrice,
  type ToolQuestions,
  type ToolSpec,
  type TraceContext,
} from '../../src/contracts/index.ts'
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
  memberOf,
  name,
  oneOf,
  optional,
  ordinal,
  reference,
  type Schema,
  text,
  truth,
} from './shapes.ts'

type Body<Type extends EventType> = Omit<InteractionEvent<Type>, keyof Envelope | 'type'>
type Ending<Type extends EventType> = InteractionEvent<Type> extends { readonly ending: infer E } ? E : never
type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

const envelope: Fields<Envelope> = {
  seq: { ...ordinal, description: 'Position in the journal of the session, without gaps. Use it as the cursor.' },
  treeId: name,
  sessionId: name,
  agentPath: name,
  turnId: optional(name),
  stepId: optional(name),
  itemId: optional(name),
  at: { type: 'number', description: 'Milliseconds since 1970.' },
  inbox: optional(count),
}

const totals = closed<InteractionEvent<'interaction.turn.completed'>['totals']>({
  usage: reference('Usage'),
  cost: reference('Cost'),
  steps: count,
  calls: count,
  durationMs: amount,
  waitedMs: optional(amount),
})
const lastReasons = {
  steps: true,
  tokens: true,
  cost: true,
  time: true,
  calls: true,
  context: true,
  repeats: true,
  stopped: true,
} as const
const lastReason = oneOf<LastStepReason>(lastReasons)
const partialReason = oneOf<PartialReason>({ ...lastReasons, hook: true })
type Completed = Ending<'interaction.turn.completed'>
type Partial = Is<Completed, 'status', 'partial'>
type Interrupted = Ending<'interaction.turn.interrupted'>
const completed = anyOf(
  closed<Is<Completed, 'status', 'completed'>>({ status: constant('completed') }),
  closed<Partial>({
    status: constant('partial'),
    reason: partialReason,
    limit: optional(oneOf<NonNullable<Partial['limit']>>({ above: true, owner: true })),
  }),
)
const failed = closed<Ending<'interaction.turn.failed'>>({
  status: constant('failed'),
  reason: reference('TurnReason'),
  message: text,
  remedy: optional(text),
  failure: optional(reference('ModelFailure')),
})
const interrupted = closed<Interrupted>({
  status: constant('interrupted'),
  reason: oneOf<Interrupted['reason']>({ interrupted: true, denied: true }),
})
const replyRef = anyOf(closed<Is<ReplyRef, 'type', 'item'>>({ type: constant('item'), id: name }), reference('CallPart'))
const checkedOutput = anyOf(
  closed<Is<CheckedOutput, 'ok', true>>({ ok: constant(true), value: anyJson }),
  closed<Is<CheckedOutput, 'ok', false>>({ ok: constant(false), problems: listOf(text), notice: text, remedy: text }),
)
const childEnd: Fields<ChildEnd> = {
  childId: name,
  agent: name,
  totals,
  paidUsd: amount,
  children: count,
  idleMs: amount,
  turn: optional(ordinal),
  notice: optional(text),
}
export const runFlag = closed<RunFlag>({ name, value: text })
const principalKind = memberOf(principalKinds)
type Updated = InteractionEvent<'interaction.item.updated'>['update']

const prices = optional({ type: 'object', additionalProperties: closed<TokenPrice>({ input: amount, output: amount }) })
const windows = optional({ type: 'object', additionalProperties: ordinal })
const modelFacts = { prices, windows, maxOutputs: windows }
const changes = optional(reference('AgentChanges'))
const spent = { usage: reference('Usage'), cost: reference('Cost'), latencyMs: amount }

/** The fields of each durable event besides the envelope. */
const bodies: { readonly [Type in EventType]: Fields<Body<Type>> } = {
  'interaction.session.created': {
    agent: reference('Agent'),
    trace: reference('Trace'),
    tools: listOf(text),
    promptChars: count,
    policy: text,
    ...modelFacts,
    parent: optional(closed<ParentCall>({ sessionId: name, turnId: name, itemId: name })),
    origin: optional(
      closed<RunOrigin>({ workspace: text, agentFile: optional(text), command: optional(name), flags: optional(listOf(runFlag)) }),
    ),
    principal: optional(closed<Principal>({ id: name, kind: principalKind, name: optional(text) })),
    changes,
    forkedFrom: optional(
      closed<NonNullable<Body<'interaction.session.created'>['forkedFrom']>>({ sessionId: name, seq: count, last: optional(ordinal) }),
    ),
  },
  'interaction.session.configured': {
    agent: reference('Agent'),
    tools: listOf(text),
    promptChars: count,
    ...modelFacts,
    changes,
    reason: text,
  },
  'interaction.session.resumed': {
    epoch: count,
    policy: text,
    diagnostics: listOf(reference('Diagnostic')),
    stoppedAt: optional(amount),
  },
  'interaction.session.idle': {},
  'interaction.input.accepted': {
    clientId: name,
    parts: listOf(reference('InputPart')),
    mode: oneOf<Body<'interaction.input.accepted'>['mode']>({ queue: true, steer: true }),
    traceContext: optional(closed<TraceContext>({ traceparent: name, tracestate: optional(text) })),
    endsHandoff: optional(constant(true)),
  },
  'interaction.held.sent': { by: text },
  'interaction.history.added': { messages: listOf(reference('Message')) },
  'interaction.turn.started': { inputs: listOf(name) },
  'interaction.turn.completed': { ending: completed, report: reference('Report'), totals },
  'interaction.turn.failed': { ending: failed, report: optional(reference('Report')), totals },
  'interaction.turn.interrupted': { ending: interrupted, report: optional(reference('Report')), totals },
  'interaction.turn.suspended': {
    reason: oneOf<Body<'interaction.turn.suspended'>['reason']>({ approval: true, input: true, client: true }),
    approvals: listOf(name),
  },
  'interaction.step.started': {
    model: name,
    modelId: name,
    attempt: ordinal,
    reservation: closed<Body<'interaction.step.started'>['reservation']>({
      input: count,
      output: count,
      costUsd: optional(amount),
      limit: optional(oneOf<'tokens' | 'cost'>({ tokens: true, cost: true })),
    }),
    absorbs: listOf(name),
    compacts: optional(truth),
    probes: optional(truth),
    offer: optional(closed<RecordedOffer>({ hash: name, abilities: listOf(reference('ModelAbility')), capsOutput: truth })),
    last: optional(closed<NonNullable<Body<'interaction.step.started'>['last']>>({ reason: lastReason, notice: text })),
  },
  'interaction.step.completed': {
    reply: listOf(replyRef),
    finish: reference('FinishReason'),
    ...spent,
    firstTokenMs: optional(amount),
    metadata: optional(anyObject),
    output: optional(checkedOutput),
  },
  'interaction.step.failed': { failure: reference('ModelFailure'), ...spent, delayMs: amount, keepsText: optional(constant(true)) },
  'interaction.item.started': { item: reference('ItemIntent') },
  'interaction.item.updated': {
    update: anyOf(
      closed<Is<Updated, 'kind', 'attempt'>>({
        kind: constant('attempt'),
        attempt: ordinal,
        reason: oneOf<Is<Updated, 'kind', 'attempt'>['reason']>({ resumed: true, unsandboxed: true, answered: true }),
        by: optional(text),
      }),
      closed<Is<Updated, 'kind', 'asked'>>({
        kind: constant('asked'),
        ask: closed<ToolQuestions>({
          questions: { type: 'object', additionalProperties: reference('Question') },
          state: optional(anyJson),
        }),
      }),
      closed<Is<Updated, 'kind', 'plan'>>({ kind: constant('plan'), plan: reference('Plan') }),
    ),
  },
  'interaction.item.completed': { item: reference('ItemRecord') },
  'interaction.approval.requested': { request: reference('ApprovalRequest') },
  'interaction.approval.resolved': { approvalId: name, decision: reference('ApprovalDecision'), by: text },
  'interaction.approval.granted': { keys: listOf(reference('ApprovalKey')), from: name, by: text },
  'interaction.approval.revoked': { keys: listOf(text), by: text },
  'interaction.subagent.selected': {
    agent: name,
    reason: text,
    scores: { type: 'object', additionalProperties: { type: 'number' } },
    asked: optional(
      closed<NonNullable<Body<'interaction.subagent.selected'>['asked']>>({
        model: name,
        usage: reference('Usage'),
        cost: reference('Cost'),
        paidUsd: amount,
        latencyMs: amount,
        failure: optional(reference('ModelFailure')),
      }),
    ),
  },
  'interaction.subagent.started': { childId: name, agent: name, childPath: name, turn: optional(ordinal) },
  'interaction.subagent.closed': { childId: name, agent: name },
  'interaction.subagent.completed': {
    ...childEnd,
    status: oneOf<Body<'interaction.subagent.completed'>['status']>({ completed: true, partial: true }),
  },
  'interaction.subagent.failed': {
    ...childEnd,
    status: oneOf<Body<'interaction.subagent.failed'>['status']>({ failed: true, interrupted: true }),
    failure: reference('ToolFailure'),
  },
  'interaction.handoff.started': { childId: name, agent: name, childPath: name },
  'interaction.handoff.completed': {
    childId: name,
    agent: name,
    reason: oneOf<HandoffReason>({ done: true, time: true, turns: true, tokens: true, idle: true, failed: true, asked: true, ended: true }),
    message: optional(name),
  },
  'interaction.offer.recorded': {
    hash: name,
    tools: listOf(closed<ToolSpec>({ name: text, description: text, inputSchema: anyObject })),
    instructions: text,
  },
  'interaction.hook.completed': {
    hook: name,
    verdict: oneOf<Body<'interaction.hook.completed'>['verdict']>({
      changed: true,
      blocked: true,
      context: true,
      resumed: true,
      failed: true,
    }),
    message: optional(text),
  },
  'interaction.context.added': { source: text, text },
  'interaction.context.compacted': {
    messages: listOf(reference('Message')),
    kept: count,
    carried: closed<Carried>({
      bundles: listOf(closed<EffectBundle>({ count, handle: name })),
      lines: listOf(text),
      summary: text,
      length: count,
    }),
    output: optional(closed<NonNullable<Body<'interaction.context.compacted'>['output']>>({ handle: name, bytes: count })),
    tokensBefore: count,
    tokensAfter: count,
  },
  'interaction.cancel.requested': {
    mode: oneOf<Body<'interaction.cancel.requested'>['mode']>({ stop: true, abort: true, interrupt: true }),
    by: text,
  },
  'interaction.diagnostic': { diagnostic: reference('Diagnostic') },
}

const liveEnvelope = { treeId: name, sessionId: name, agentPath: name, turnId: name }
const delta: Fields<ItemDelta> = {
  type: constant('interaction.item.delta'),
  ...liveEnvelope,
  stepId: name,
  itemId: name,
  attempt: ordinal,
  kind: oneOf<ItemDelta['kind']>({ text: true, reasoning: true, progress: true, output: true }),
  text,
  offset: count,
}

const queueEvent = (type: QueueEvent['type']): Schema =>
  closed<QueueEvent>(
    {
      type: constant(type),
      ...liveEnvelope,
      stepId: optional(name),
      itemId: optional(name),
      queue: name,
      since: count,
    },
    { description: provisional },
  )
const provisional = 'Live event: provisional and not stored.'

type EndedRun = Extract<RunEnd, { readonly outcome: ReportedOutcome }>
type UnstartedRun = Exclude<RunEnd, EndedRun>
const exitCode = { type: 'integer', minimum: 0, maximum: 255 }
const ended = {
  error: optional(reference('CommandError')),
  outcome: reference('Outcome'),
  denials: listOf(reference('Denial')),
  summary: optional(reference('AgentSummary')),
  exitCode,
}

/** The lines of `--stream-json`, by `type`. */
export const lines: { readonly [type: string]: Schema } = {
  ...Object.fromEntries(
    Object.entries(bodies).map(([type, fields]) => [
      type,
      closed<object>({ type: constant(type), ...envelope, ...fields } as Fields<object>),
    ]),
  ),
  'interaction.item.delta': closed<ItemDelta>(delta, { description: provisional }),
  'interaction.queue.joined': queueEvent('interaction.queue.joined'),
  'interaction.queue.left': queueEvent('interaction.queue.left'),
  'run.completed': closed<EndedRun>(
    { type: constant('run.completed'), ok: truth, ...ended },
    { description: 'The last line of a run with an answer.' },
  ),
  'run.failed': {
    description: 'The last line of a run without an answer, or of one that did not start.',
    ...anyOf(
      closed<EndedRun>({ type: constant('run.failed'), ok: constant(false), ...ended }),
      closed<UnstartedRun>({ type: constant('run.failed'), ok: constant(false), error: reference('CommandError'), exitCode }),
    ),
  },
}
