import { type Problem, ruleVerdicts, type SandboxPolicy } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { type KnownTools, rulePatternProblem } from '../../policy/tool-name-problems.ts'
import { isRecord } from '../../util/is-record.ts'
import { knownNames } from '../../util/nearest-names.ts'
import {
  aString,
  checkFields,
  checkKeys,
  expectList,
  type FieldType,
  isListOfStrings,
  isPlainRecord,
  oneOf,
  optional,
  within,
} from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { AgentDefinition, AgentLoopConfig } from '../options/agent-config.ts'

// Rules, sandbox settings, skills and context.

/** The tool names that rules can refer to; `undefined` if tools come from sources, whose names are not known yet. */
export function knownToolsOf(config: unknown): KnownTools | undefined {
  const { tools = [], agents, extensions } = isRecord(config) ? config : {}
  const nameOf = (each: unknown, key = 'name'): string => (isRecord(each) && typeof each[key] === 'string' ? each[key] : '')
  const given: readonly unknown[] = Array.isArray(tools) ? tools : []
  if (given.some((each) => isRecord(each) && typeof each.list === 'function')) return undefined
  const called = (Array.isArray(agents) ? agents : []).map((agent: unknown) => nameOf(agent, 'toolName') || nameOf(agent))
  const opened = given.flatMap((each) => (isRecord(each) && typeof each.open === 'function' ? [nameOf(each)] : []))
  const servers = [config, ...(Array.isArray(agents) ? agents : [])].flatMap((each: unknown) =>
    isRecord(each) && isRecord(each.mcpServers) ? Object.keys(each.mcpServers) : [],
  )
  return {
    tools: [...given.map((each) => nameOf(each)), ...called.map((name) => `agent__${name}`)],
    sources: [...opened, ...servers],
    extensions: isListOfStrings(extensions) ? extensions : [],
  }
}

export function checkPolicies(config: AgentLoopConfig): readonly Problem[] {
  const problems: Problem[] = []
  const { approvals, context, skills, agents } = config
  const known = knownToolsOf(config)
  if (Array.isArray(approvals))
    for (const [index, policy] of approvals.entries()) checkPolicy(problems, policy, { place: `config.approvals[${index}]`, known })
  else if (approvals !== undefined) checkPolicy(problems, approvals, { place: 'config.approvals', known })
  checkEntries(problems, context, { place: 'config.context', keys: ['source', 'text'] })
  // The names of skills in folders are known once these have been searched.
  const areFolders = isPlainRecord(skills)
  if (areFolders) checkSkillFolders(problems, skills)
  else checkEntries(problems, skills, { place: 'config.skills', keys: ['name', 'description', 'scope', 'path', 'hash'] })
  const names = areFolders
    ? undefined
    : (Array.isArray(skills) ? skills : []).flatMap((skill: unknown) =>
        isRecord(skill) && typeof skill.name === 'string' ? [skill.name] : [],
      )
  for (const [index, agent] of (Array.isArray(agents) ? agents : []).entries())
    if (isRecord(agent)) checkAgentPolicies(problems, agent as Partial<AgentDefinition>, { place: `config.agents[${index}]`, names, known })
  return problems
}

interface At {
  readonly place: string
  readonly known: KnownTools | undefined
}

function checkPolicy(problems: Problem[], policy: unknown, { place, known }: At): void {
  if (!isRecord(policy)) {
    problems.push({ place, message: `expected an object with rules, found ${showValue(policy)}` })
    return
  }
  checkKeys(problems, policy, { known: ['name', 'rules'], place })
  checkFields(problems, policy, { fields: { name: optional(aString) }, place })
  checkRules(problems, policy.rules, { place: `${place}.rules`, known })
}

function checkRules(problems: Problem[], rules: unknown, { place, known }: At): void {
  if (!Array.isArray(rules)) {
    const remedy = 'Pass a list like [{ deny: "shell(rm *)" }].'
    problems.push({ place, message: `expected a list of rules, found ${showValue(rules)}`, remedy })
    return
  }
  for (const [index, rule] of (rules as readonly unknown[]).entries()) checkRule(problems, rule, { place: `${place}[${index}]`, known })
}

function checkRule(problems: Problem[], rule: unknown, { place, known }: At): void {
  if (!isRecord(rule)) {
    const remedy = 'Write it like { allow: "shell(git status*)" }.'
    problems.push({ place, message: `expected a rule, found ${showValue(rule)}`, remedy })
    return
  }
  checkKeys(problems, rule, { known: [...ruleVerdicts, 'reason'], place })
  const given = ruleVerdicts.filter((verdict) => rule[verdict] !== undefined)
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none' : given.join(' and ')
    problems.push({ place, message: `expected one of ${ruleVerdicts.join(', ')}, found ${found}` })
  }
  for (const verdict of given) {
    const patterns: readonly unknown[] = Array.isArray(rule[verdict]) ? rule[verdict] : [rule[verdict]]
    if (patterns.length === 0 || !patterns.every(isRulePattern)) {
      const message = `expected a pattern like "shell(git *)", found ${showValue(rule[verdict])}`
      problems.push({ place: `${place}.${verdict}`, message })
      continue
    }
    for (const pattern of patterns) {
      const problem = known && rulePatternProblem(pattern, known)
      if (problem) problems.push({ place: `${place}.${verdict}`, message: problem.message, remedy: problem.remedy })
    }
  }
  checkFields(problems, rule, { fields: { reason: optional(aString) }, place })
}

/** A list of objects whose named fields are strings. */
function checkEntries(problems: Problem[], list: unknown, { place, keys }: { place: string; keys: readonly string[] }): void {
  const fields = Object.fromEntries(keys.map((key) => [key, aString]))
  for (const [index, each] of expectList(problems, list, place).entries()) {
    const at = `${place}[${index}]`
    if (isRecord(each)) checkFields(problems, each, { fields, place: at })
    else problems.push({ place: at, message: `expected an object with ${keys.join(', ')}, found ${showValue(each)}` })
  }
}

function checkAgentPolicies(
  problems: Problem[],
  { approvals, clientTools, sandbox, skills, disabledSkills }: Partial<AgentDefinition>,
  { place, names, known }: At & { readonly names: readonly string[] | undefined },
): void {
  if (approvals !== undefined) checkRules(problems, approvals, { place: `${place}.approvals`, known: known && { ...known, clientTools } })
  if (sandbox !== undefined) checkSandbox(problems, sandbox, { place: `${place}.sandbox` })
  checkSkillNames(problems, skills, { place: `${place}.skills`, names })
  if (Array.isArray(disabledSkills)) checkSkillNames(problems, disabledSkills, { place: `${place}.disabledSkills`, names })
}

/** A pattern may match nothing. */
function checkSkillNames(
  problems: Problem[],
  list: unknown,
  { place, names }: { readonly place: string; readonly names: readonly string[] | undefined },
): void {
  for (const [index, name] of expectList(problems, list, place).entries()) {
    if (typeof name === 'string' && (!names || name.includes('*') || names.includes(name))) continue
    const remedy = knownNames(typeof name === 'string' ? name : '', names ?? [], 'skill')
    problems.push({ place: `${place}[${index}]`, message: `unknown skill ${showValue(name)}`, remedy })
  }
}

function checkSkillFolders(problems: Problem[], search: { readonly [key: string]: unknown }): void {
  const place = 'config.skills'
  checkKeys(problems, search, { known: ['directories', 'disabled'], place })
  const fields = { directories: nonEmptyStrings('a list of folders'), disabled: optional(nonEmptyStrings('a list of skills')) }
  checkFields(problems, search, { fields, place })
}

const nonEmptyStrings = (expected: string): FieldType => ({
  expected,
  accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== ''),
})
const aCount = within({ kind: 'integer', min: 1 })

const sandboxFields: { readonly [Key in keyof Required<SandboxPolicy>]: FieldType } = {
  mode: oneOf(['required', 'off']),
  hosts: nonEmptyStrings('a list of hosts'),
  privateHosts: nonEmptyStrings('a list of hosts'),
  writable: nonEmptyStrings('a list of folders'),
  environment: nonEmptyStrings('a list of names of variables'),
  memory: { ...aCount, expected: 'a number of bytes' },
  processes: { ...aCount, expected: 'a number of processes' },
}

/** `isComplete`: the policy of a runtime sets every key; an agent sets only what it restricts. */
export function checkSandbox(
  problems: Problem[],
  sandbox: unknown,
  {
    place,
    isComplete = false,
    without = [],
  }: { readonly place: string; readonly isComplete?: boolean; readonly without?: readonly string[] },
): void {
  if (!isPlainRecord(sandbox)) {
    problems.push({ place, message: `expected an object, found ${showValue(sandbox)}` })
    return
  }
  checkKeys(problems, sandbox, { known: Object.keys(sandboxFields).filter((key) => !without.includes(key)), place })
  const given = Object.entries(sandboxFields).filter(([key]) => isComplete || sandbox[key] !== undefined)
  checkFields(problems, sandbox, { fields: Object.fromEntries(given), place })
}
