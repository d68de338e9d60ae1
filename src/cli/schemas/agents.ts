import type {
  AgentLimits,
  AgentSpec,
  ApprovalPolicy,
  InputContract,
  ModelParameters,
  OutputContract,
  ReasoningEffort,
} from '../../contracts/index.ts'
import { approvalRule, sandboxPolicy } from './policies.ts'
import {
  amount,
  anyObject,
  anyOf,
  closed,
  constant,
  count,
  listOf,
  name,
  oneOf,
  optional,
  ordinal,
  reference,
  text,
  truth,
} from './shapes.ts'

// Agents with their limits, parameters, input and output.

type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

export const parameters = closed<ModelParameters>({
  temperature: optional({ type: 'number' }),
  topP: optional({ type: 'number' }),
  maxOutputTokens: optional(ordinal),
  seed: optional({ type: 'integer' }),
  reasoning: optional(oneOf<ReasoningEffort>({ none: true, minimal: true, low: true, medium: true, high: true, xhigh: true })),
  cache: optional(truth),
})
export const limits = closed<AgentLimits>({
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
export const output = anyOf(
  closed<Is<OutputContract, 'format', 'text' | 'markdown'>>({
    format: oneOf<Is<OutputContract, 'format', 'text' | 'markdown'>['format']>({ text: true, markdown: true }),
  }),
  closed<Is<OutputContract, 'format', 'json'>>({ format: constant('json'), schema: optional(anyObject) }),
)
export const input = anyOf(
  closed<Is<InputContract, 'format', 'text'>>({ format: constant('text') }),
  closed<Is<InputContract, 'format', 'json'>>({ format: constant('json'), schema: anyObject }),
)
export const agent = closed<AgentSpec>({
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
