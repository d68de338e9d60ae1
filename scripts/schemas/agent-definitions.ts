import {
  type AgentChanges,
  type AgentLimits,
  type AgentSpec,
  type ApprovalPolicy,
  type ApprovalRule,
  boundsOfLimit,
  type ClientTool,
  type ClientToolRule,
  defaultLimits,
  type InputContract,
  limitNames,
  type ModelAbility,
  type ModelParameters,
  type OutputContract,
  overridableParameters,
  parameterBounds,
  reasoningEfforts,
  type SandboxPolicy,
  type SkillCard,
  skillScopes,
  type ToolChoice,
} from '../../src/contracts/index.ts'
import { typeSchema } from '../../src/project/values/type-schema.ts'
import {
  anyObject,
  anyOf,
  closed,
  constant,
  type Fields,
  type Is,
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

const patterns = anyOf(name, listOf(name))
const parameterName = memberOf(overridableParameters)
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

const limitFields = Object.fromEntries(
  limitNames.map((limit) => {
    const schema = typeSchema(boundsOfLimit(limit))
    return [limit, defaultLimits[limit] === undefined ? optional(schema) : schema]
  }),
) as { readonly [name: string]: unknown } as Fields<AgentLimits>

/** Agents with their limits, parameters, input, output and skills. */
export const agentDefinitions = {
  Agent: closed<AgentSpec>({
    name,
    displayName: optional(text),
    description: name,
    prompt: { ...text, description: 'Empty for callers of a server that must not read prompts.' },
    models: listOf(name),
    tools: listOf(text),
    limits: reference('Limits'),
    saysToolTimeout: optional(constant(true)),
    isInline: optional(constant(true)),
    saysOutput: optional(constant(true)),
    parameters: reference('Parameters'),
    overrides: optional(listOf(parameterName)),
    output: reference('OutputContract'),
    usage: optional(text),
    toolName: name,
    input: reference('InputContract'),
    agents: listOf(name),
    childControl: optional(constant(true)),
    spansTurns: optional(constant(true)),
    skills: optional(listOf(reference('Skill'))),
    approvals: optional(listOf(approvalRule)),
    keepSessions: optional(constant(true)),
    clientTools: optional(anyOf(oneOf<Extract<ClientToolRule, string>>({ allow: true, deny: true }), listOf(text))),
    bounds: optional(listOf(closed<ApprovalPolicy>({ name: optional(text), rules: listOf(approvalRule) }))),
    sandbox: optional({ ...sandboxPolicy, required: [] }),
  }),
  Limits: closed<AgentLimits>(limitFields, { description: 'Times are milliseconds.' }),
  AgentChanges: closed<AgentChanges>({
    models: optional(listOf(name)),
    limits: optional(anyObject),
    lowered: optional(anyObject),
    parameters: optional(reference('Parameters')),
    instructions: optional(text),
    output: optional(anyOf(reference('OutputContract'), { type: 'null' })),
    clientTools: optional(listOf(closed<ClientTool>({ name, description: text, inputSchema: anyObject }))),
    toolChoice: optional(
      anyOf(
        oneOf<Extract<ToolChoice, string>>({ auto: true, none: true, required: true }),
        closed<Exclude<ToolChoice, string>>({ tool: name }),
      ),
    ),
  }),
  Parameters: closed<ModelParameters>({
    temperature: optional(typeSchema(parameterBounds.temperature)),
    topP: optional(typeSchema(parameterBounds.topP)),
    maxOutputTokens: optional(typeSchema(parameterBounds.maxOutputTokens)),
    seed: optional(typeSchema(parameterBounds.seed)),
    reasoning: optional(memberOf(reasoningEfforts)),
    cache: optional(truth),
  }),
  OutputContract: anyOf(
    closed<Is<OutputContract, 'format', 'text' | 'markdown'>>({
      format: oneOf<Is<OutputContract, 'format', 'text' | 'markdown'>['format']>({ text: true, markdown: true }),
    }),
    closed<Is<OutputContract, 'format', 'json'>>({ format: constant('json'), schema: optional(anyObject) }),
  ),
  InputContract: anyOf(
    closed<Is<InputContract, 'format', 'text'>>({ format: constant('text') }),
    closed<Is<InputContract, 'format', 'json'>>({ format: constant('json'), schema: anyObject }),
  ),
  Skill: closed<SkillCard>({
    name,
    description: text,
    scope: memberOf(skillScopes),
    path: name,
    hash: name,
    displayName: optional(text),
    promptHint: optional(text),
  }),
  ModelAbility: oneOf<ModelAbility>({ tools: true, images: true, files: true, reasoning: true, json_schema: true }),
} satisfies { readonly [name: string]: Schema }
