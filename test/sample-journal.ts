import type {
  AgentSpec,
  ApprovalRequest,
  CallIntent,
  ClientId,
  EventDraft,
  InteractionEvent,
  ItemId,
  SessionId,
  StepId,
  TreeId,
  TurnId,
} from '../src/contracts/index.ts'
import { defaultLimits } from '../src/contracts/index.ts'

// Builds journals by hand, so that reducers are tested without the driver that usually writes them.

export const agent: AgentSpec = {
  name: 'clerk',
  description: 'Looks things up',
  prompt: 'You are a clerk.',
  models: ['first', 'second'],
  tools: ['*'],
  limits: defaultLimits,
  parameters: {},
}

export const turn = 't1' as TurnId
export const step = 't1.s1' as StepId
export const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
export const totals = { usage, cost: 0.5, steps: 1, calls: 1, durationMs: 10 }

export function journal(drafts: readonly EventDraft[], change: Partial<AgentSpec> = {}): readonly InteractionEvent[] {
  const envelope = { treeId: 'tree' as TreeId, sessionId: 'tree' as SessionId, agentPath: 'root' }
  const first: EventDraft = {
    type: 'interaction.session.created',
    agent: { ...agent, ...change },
    trace: { originId: 'tree', callPath: 'clerk', turnPath: '' },
    tools: ['look_up'],
    promptChars: 400,
    policy: 'p',
  }
  return [first, ...drafts].map((draft, index) => ({ ...envelope, seq: index + 1, at: 1_000 + index, ...draft }) as InteractionEvent)
}

export const accepted = (clientId = 'c1', mode: 'queue' | 'steer' = 'queue', text = 'hello'): EventDraft => ({
  type: 'interaction.input.accepted',
  clientId: clientId as ClientId,
  parts: [{ type: 'text', text }],
  mode,
})
export const turnStarted = (clientId = 'c1', turnId = turn): EventDraft => ({
  type: 'interaction.turn.started',
  turnId,
  inputs: [clientId as ClientId],
})
export const stepStarted = (more: Partial<Extract<EventDraft, { type: 'interaction.step.started' }>> = {}): EventDraft => ({
  type: 'interaction.step.started',
  turnId: turn,
  stepId: step,
  model: 'first',
  attempt: 1,
  reservation: { input: 110, output: 4096 },
  absorbs: [],
  ...more,
})
export const textStarted = (id = 't1.s1.1'): EventDraft => ({
  type: 'interaction.item.started',
  turnId: turn,
  stepId: step,
  itemId: id as ItemId,
  item: { id: id as ItemId, type: 'agent_message' },
})
export const textCompleted = (id = 't1.s1.1', text = 'done'): EventDraft => ({
  type: 'interaction.item.completed',
  turnId: turn,
  stepId: step,
  itemId: id as ItemId,
  item: { id: id as ItemId, type: 'agent_message', status: 'completed', text },
})
export const answered = (id = 't1.s1.1', finish: 'stop' | 'length' = 'stop'): EventDraft => ({
  type: 'interaction.step.completed',
  turnId: turn,
  stepId: step,
  reply: [{ type: 'item', id: id as ItemId }],
  finish,
  usage,
  cost: 0.5,
  latencyMs: 5,
})
export const called = (...names: string[]): EventDraft => ({
  type: 'interaction.step.completed',
  turnId: turn,
  stepId: step,
  reply: names.map((name, index) => ({ type: 'call', id: `call_${index + 1}`, name, input: '{"q":"x"}' })),
  finish: 'tool-calls',
  usage,
  cost: 0.5,
  latencyMs: 5,
})
export const stepFailed = (kind: 'network' | 'auth' | 'rate_limit' | 'lost' = 'network', delayMs = 200): EventDraft => ({
  type: 'interaction.step.failed',
  turnId: turn,
  stepId: step,
  failure: { class: kind, message: 'no answer' },
  usage,
  cost: 'unknown',
  latencyMs: 7,
  delayMs,
})
export const intent = (index = 1, more: Partial<CallIntent> = {}): CallIntent => ({
  id: `t1.s1.${index}` as ItemId,
  type: 'tool_call',
  tool: 'look_up',
  namespace: '',
  title: 'look_up',
  callId: `call_${index}`,
  input: { q: 'x' },
  inputHash: 1,
  effect: 'write',
  lane: { kind: 'exclusive' },
  ...more,
})
export const callStarted = (index = 1, more: Partial<CallIntent> = {}): EventDraft => ({
  type: 'interaction.item.started',
  turnId: turn,
  stepId: step,
  itemId: `t1.s1.${index}` as ItemId,
  item: intent(index, more),
})
export const callCompleted = (index = 1, content = 'found'): EventDraft => ({
  type: 'interaction.item.completed',
  turnId: turn,
  stepId: step,
  itemId: `t1.s1.${index}` as ItemId,
  item: {
    id: `t1.s1.${index}` as ItemId,
    type: 'tool_call',
    status: 'completed',
    content,
    latencyMs: 3,
    bytesIn: 9,
    bytesOut: content.length,
  },
})
export const approvalRequest = (index = 1): ApprovalRequest => ({
  id: `t1.s1.${index}.approval` as ApprovalRequest['id'],
  itemId: `t1.s1.${index}` as ItemId,
  tool: 'look_up',
  summary: 'Look something up',
  input: { q: 'x' },
  inputHash: 1,
  keys: [{ key: 'tool:look_up', label: 'any look-up' }],
  scope: 'call',
})
export const approvalRequested = (index = 1): EventDraft => ({
  type: 'interaction.approval.requested',
  turnId: turn,
  stepId: step,
  itemId: `t1.s1.${index}` as ItemId,
  request: approvalRequest(index),
})
