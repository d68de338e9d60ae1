import type {
  ApprovalDecision,
  ApprovalKey,
  ApprovalRequest,
  ApprovalRule,
  Lane,
  Plan,
  PlanIntent,
  PlanRecord,
  PlanStatus,
  PlanStep,
  Question,
  SandboxPolicy,
  SkillCard,
  SkillScope,
} from '../../contracts/index.ts'
import {
  anyObject,
  anyOf,
  closed,
  constant,
  type Fields,
  listOf,
  name,
  oneOf,
  optional,
  ordinal,
  reference,
  text,
  truth,
} from './shapes.ts'

// Skills, rules, sandbox policies, approvals and plans.

type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

export const skill = closed<SkillCard>({
  name,
  description: text,
  scope: oneOf<SkillScope>({ repo: true, user: true, system: true, admin: true }),
  path: name,
  hash: name,
  displayName: optional(text),
  promptHint: optional(text),
})
const patterns = anyOf(name, listOf(name))
export const approvalRule = closed<ApprovalRule>({
  allow: optional(patterns),
  ask: optional(patterns),
  deny: optional(patterns),
  reason: optional(text),
})
export const sandboxPolicy = closed<SandboxPolicy>({
  mode: oneOf<SandboxPolicy['mode']>({ required: true, off: true }),
  hosts: listOf(name),
  privateHosts: listOf(name),
  writable: listOf(name),
  environment: listOf(name),
  memory: ordinal,
  processes: ordinal,
})
export const approvalKey = closed<ApprovalKey>({
  key: text,
  label: text,
  use: optional(anyOf(text, listOf(text))),
  aliases: optional(listOf(text)),
  tools: optional(listOf(name)),
  within: optional(listOf(text)),
  isOpaque: optional(truth),
  mustBeNamed: optional(truth),
  isPrefix: optional(truth),
})
export const lane = anyOf(
  closed<Is<Lane, 'kind', 'shared'>>({ kind: constant('shared') }),
  closed<Is<Lane, 'kind', 'exclusive'>>({ kind: constant('exclusive') }),
  closed<Is<Lane, 'kind', 'key'>>({ kind: constant('key'), key: text }),
)
export const approvalRequest = closed<ApprovalRequest>({
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
})
export const approvalDecision = anyOf(
  closed<Is<ApprovalDecision, 'kind', 'approve'>>({
    kind: constant('approve'),
    breadth: oneOf<Is<ApprovalDecision, 'kind', 'approve'>['breadth']>({ once: true, session: true, project: true }),
    key: optional(text),
  }),
  closed<Is<ApprovalDecision, 'kind', 'answer'>>({ kind: constant('answer'), text }),
  closed<Is<ApprovalDecision, 'kind', 'deny'>>({ kind: constant('deny'), feedback: optional(text) }),
  closed<Is<ApprovalDecision, 'kind', 'abort'>>({ kind: constant('abort') }),
)

export const plan = closed<Plan>({
  steps: listOf(closed<PlanStep>({ step: text, status: oneOf<PlanStatus>({ pending: true, in_progress: true, completed: true }) })),
  explanation: optional(text),
})
const planFields: Fields<PlanIntent> = { kind: constant('plan'), id: name, type: constant('todo_list'), plan: reference('Plan') }
export const planIntent = closed<PlanIntent>(planFields)
export const planRecord = closed<PlanRecord>({
  ...planFields,
  status: oneOf<PlanRecord['status']>({ completed: true, failed: true, interrupted: true }),
})
