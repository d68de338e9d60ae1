import {
  type AgentTrust,
  exampleLimits,
  type InputContract,
  type OutputContract,
  overridableParameters,
  type Problem,
  reasoningEfforts,
  type Tool,
} from '../../contracts/index.ts'
import { matchesSource, matchesTool } from '../../policy/tool-name-patterns.ts'
import { isRecord } from '../../util/is-record.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { knownNames } from '../../util/nearest-names.ts'
import {
  aBoolean,
  anything,
  aString,
  checkField,
  checkFields,
  checkKeys,
  expectObject,
  type FieldType,
  isListOfStrings,
  oneOf,
  optional,
  stringList,
} from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { AgentDefinition, SchemaAlone } from '../options/agent-config.ts'
import { checkLimits, checkParameters } from './check-limits.ts'

const nonBlank: FieldType = { expected: 'a string', accepts: (value) => typeof value === 'string' && value.trim() !== '' }

/** Fields with `anything` have checks of their own: here, in `check-policies.ts`, `check-servers.ts` and `check-children.ts`. */
const agentFields: { readonly [Key in keyof Required<AgentDefinition>]: FieldType } = {
  name: nonBlank,
  description: nonBlank,
  prompt: nonBlank,
  displayName: optional(aString),
  model: anything,
  models: anything,
  tools: optional(stringList('a list of tool names')),
  mcpServers: anything,
  limits: anything,
  parameters: anything,
  overrides: optional({
    expected: `a list of ${overridableParameters.join(', ')}`,
    accepts: (value) => isListOfStrings(value) && value.every((name) => (overridableParameters as readonly string[]).includes(name)),
  }),
  reasoningEffort: optional(oneOf(reasoningEfforts)),
  output: anything,
  usage: optional(aString),
  examples: optional({
    expected: `a list of 1 to ${exampleLimits.max} texts of at most ${exampleLimits.maxChars} characters`,
    accepts: (value) =>
      isListOfStrings(value) &&
      value.length >= 1 &&
      value.length <= exampleLimits.max &&
      value.every((text) => text.trim() !== '' && text.length <= exampleLimits.maxChars),
  }),
  toolName: optional(aString),
  input: anything,
  agents: anything,
  childControl: optional(aBoolean),
  clientTools: optional({
    expected: 'allow, deny, or a list of names',
    accepts: (value) => value === 'allow' || value === 'deny' || isListOfStrings(value),
  }),
  keepSessions: optional(aBoolean),
  infer: optional(aBoolean),
  skills: anything,
  disabledSkills: optional(stringList('a list of skills')),
  approvals: anything,
  sandbox: anything,
  trust: anything,
  template: optional(aString),
}

const trustFields: { readonly [Key in keyof Required<AgentTrust>]: FieldType } = {
  isGiven: aBoolean,
  place: aString,
  toolsOtherwise: stringList('a list of tool names'),
  remedy: optional(aString),
}

export function checkAgent(problems: Problem[], agent: AgentDefinition, place: string): void {
  checkKeys(problems, agent, { known: Object.keys(agentFields), place })
  checkFields(problems, agent, { fields: agentFields, place })
  checkModels(problems, agent, place)
  const { limits, parameters, output, input, trust, reasoningEffort } = agent
  if (expectObject(problems, limits, `${place}.limits`)) checkLimits(problems, limits, `${place}.limits`)
  if (expectObject(problems, parameters, `${place}.parameters`)) checkParameters(problems, parameters, `${place}.parameters`)
  if (reasoningEffort !== undefined && isRecord(parameters) && parameters.reasoning !== undefined)
    problems.push({
      place: `${place}.reasoningEffort`,
      message: 'expected either reasoningEffort or parameters.reasoning, found both',
      remedy: 'Remove one of them.',
    })
  if (expectObject(problems, output, `${place}.output`))
    checkContract(problems, output, { place: `${place}.output`, formats: ['text', 'markdown', 'json'], root: 'any' })
  if (expectObject(problems, input, `${place}.input`))
    checkContract(problems, input, { place: `${place}.input`, formats: ['text', 'json'], root: 'object' })
  if (expectObject(problems, trust, `${place}.trust`)) {
    checkKeys(problems, trust, { known: Object.keys(trustFields), place: `${place}.trust` })
    checkFields(problems, trust, { fields: trustFields, place: `${place}.trust` })
  }
}

function checkModels(problems: Problem[], { model, models }: AgentDefinition, place: string): void {
  if (model !== undefined && models !== undefined)
    problems.push({ place: `${place}.model`, message: 'expected either model or models, found both', remedy: 'Remove one of them.' })
  const names: readonly unknown[] = models === undefined ? [model] : Array.isArray(models) ? models : []
  if (names.length > 0 && names.every((name) => typeof name === 'string' && name !== '')) return
  problems.push({
    place: models === undefined ? `${place}.model` : `${place}.models`,
    message: `expected a model name, found ${showValue(models ?? model)}`,
    remedy: 'Set model: "provider/name", or models: a list in order of preference.',
  })
}

/** A schema without a format means JSON, as in an agent file. */
export function withFormat<Contract extends InputContract | OutputContract>(given: Contract | SchemaAlone): Contract {
  // Programs without types may pass anything here; the checks report it.
  const isAlone = typeof given === 'object' && given !== null && given.format === undefined && given.schema !== undefined
  return (isAlone ? { ...given, format: 'json' } : given) as Contract
}

function checkContract(
  problems: Problem[],
  given: InputContract | OutputContract | SchemaAlone,
  { place, formats, root }: { readonly place: string; readonly formats: readonly string[]; readonly root: 'any' | 'object' },
): void {
  const contract: { readonly format: string; readonly schema?: unknown } = withFormat(given)
  const { format, schema } = contract
  checkKeys(problems, contract, { known: ['format', 'schema'], place })
  checkField(problems, format, { type: oneOf(formats), place: `${place}.format` })
  if (format === 'json') {
    // An output may be JSON of any shape; an input needs its schema.
    if (schema !== undefined || root === 'object') problems.push(...checkSchema(schema, `${place}.schema`, root))
  } else if (schema !== undefined)
    problems.push({ place: `${place}.schema`, message: 'a schema requires format "json"', remedy: 'Set format: "json".' })
}

/** Entries of an allowlist that match no tool. Entries for `sources` are checked when a session has listed their tools. */
export function checkAllowlist(
  { tools: wanted = [] }: Pick<AgentDefinition, 'tools'>,
  tools: readonly Tool[],
  { place, sources }: { readonly place: string; readonly sources: readonly string[] },
): readonly Problem[] {
  const names = tools.flatMap((tool: Partial<Tool> | null) => (typeof tool?.name === 'string' ? [tool.name] : []))
  return wanted.flatMap((pattern, index) => {
    if (pattern === '*' || names.some((name) => matchesTool(pattern, name))) return []
    if (sources.some((source) => matchesSource(pattern, source))) return []
    return [{ place: `${place}.tools[${index}]`, message: `no tool matches "${pattern}"`, remedy: knownNames(pattern, names, 'tool') }]
  })
}
