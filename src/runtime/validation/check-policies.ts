import { type Problem, ruleVerdicts, type SandboxPolicy } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { type KnownTools, rulePatternProblem } from '../../policy/tool-name-problems.ts'
import { checkKeys, isPlainRecord, isRecord, show } from '../../util/option-problems.ts'
import { knownNames } from '../../util/suggestion.ts'
import type { AgentDefinition, AgentLoopConfig } from '../api/agent-config.ts'

// Rules, walls, skills and context: what agents may do, and what they are told.

/** What names in rules can mean; nothing where tools come from sources, whose names are not known yet. */
export function knownTools(config: unknown): KnownTools | undefined {
  const { tools = [], agents } = isRecord(config) ? config : {}
  const nameOf = (each: unknown, key = 'name'): string => (isRecord(each) && typeof each[key] === 'string' ? each[key] : '')
  const given: readonly unknown[] = Array.isArray(tools) ? tools : []
  if (given.some((each) => isRecord(each) && typeof each.list === 'function')) return undefined
  const called = (Array.isArray(agents) ? agents : []).map((agent: unknown) => nameOf(agent, 'toolName') || nameOf(agent))
  return { tools: [...given.map((each) => nameOf(each)), ...called.map((name) => `agent__${name}`)], sources: [] }
}

export function checkPolicies(config: AgentLoopConfig): readonly Problem[] {
  const problems: Problem[] = []
  const { approvals, context, skills, agents } = config
  const known = knownTools(config)
  if (approvals !== undefined) {
    const policies: readonly unknown[] = Array.isArray(approvals) ? approvals : [approvals]
    for (const [index, policy] of policies.entries())
      checkPolicy(problems, policy, { place: Array.isArray(approvals) ? `config.approvals[${index}]` : 'config.approvals', known })
  }
  checkTexts(problems, context, { place: 'config.context', keys: ['source', 'text'] })
  checkTexts(problems, skills, { place: 'config.skills', keys: ['name', 'description', 'scope', 'path', 'hash'] })
  for (const [index, agent] of (Array.isArray(agents) ? agents : []).entries())
    if (isRecord(agent))
      checkAgent(problems, agent as Partial<AgentDefinition>, {
        place: `config.agents[${index}]`,
        skills: Array.isArray(skills) ? skills : [],
        known,
      })
  return problems
}

interface At {
  readonly place: string
  readonly known: KnownTools | undefined
}

function checkPolicy(problems: Problem[], policy: unknown, { place, known }: At): void {
  if (!isRecord(policy)) {
    problems.push({ place, message: `expected an object with rules, found ${show(policy)}` })
    return
  }
  checkKeys(problems, policy, { known: ['name', 'rules'], place })
  if (policy.name !== undefined && typeof policy.name !== 'string')
    problems.push({ place: `${place}.name`, message: `expected a text, found ${show(policy.name)}` })
  checkRules(problems, policy.rules, { place: `${place}.rules`, known })
}

/** Rules as they stand in a configuration or an agent. */
function checkRules(problems: Problem[], rules: unknown, { place, known }: At): void {
  if (!Array.isArray(rules)) {
    problems.push({
      place,
      message: `expected a list of rules, found ${show(rules)}`,
      remedy: 'Give a list like [{ deny: "shell(rm *)" }].',
    })
    return
  }
  for (const [index, rule] of (rules as readonly unknown[]).entries()) checkRule(problems, rule, { place: `${place}[${index}]`, known })
}

function checkRule(problems: Problem[], rule: unknown, { place, known }: At): void {
  if (!isRecord(rule)) {
    problems.push({ place, message: `expected a rule, found ${show(rule)}`, remedy: 'Write it like { allow: "shell(git status*)" }.' })
    return
  }
  checkKeys(problems, rule, { known: [...ruleVerdicts, 'reason'], place })
  const given = ruleVerdicts.filter((verdict) => rule[verdict] !== undefined)
  if (given.length !== 1)
    problems.push({
      place,
      message: `expected one of ${ruleVerdicts.join(', ')}, found ${given.length === 0 ? 'none' : given.join(' and ')}`,
    })
  for (const verdict of given) {
    const patterns: readonly unknown[] = Array.isArray(rule[verdict]) ? rule[verdict] : [rule[verdict]]
    if (patterns.length === 0 || !patterns.every(isRulePattern))
      problems.push({ place: `${place}.${verdict}`, message: `expected a pattern like "shell(git *)", found ${show(rule[verdict])}` })
    else
      for (const pattern of patterns as readonly string[]) {
        const fault = known && rulePatternProblem(pattern, known)
        if (fault) problems.push({ place: `${place}.${verdict}`, message: fault.message, remedy: fault.remedy })
      }
  }
  if (rule.reason !== undefined && typeof rule.reason !== 'string')
    problems.push({ place: `${place}.reason`, message: `expected a text, found ${show(rule.reason)}` })
}

function checkTexts(problems: Problem[], list: unknown, { place, keys }: { place: string; keys: readonly string[] }): void {
  if (list === undefined) return
  if (!Array.isArray(list)) {
    problems.push({ place, message: `expected a list, found ${show(list)}` })
    return
  }
  for (const [index, each] of (list as readonly unknown[]).entries()) {
    const wrong = isRecord(each) ? keys.filter((key) => typeof each[key] !== 'string') : keys
    for (const key of wrong)
      problems.push({ place: `${place}[${index}].${key}`, message: `expected a text, found ${show(isRecord(each) ? each[key] : each)}` })
  }
}

function checkAgent(
  problems: Problem[],
  { approvals, sandbox, skills: wanted }: Partial<AgentDefinition>,
  { place, skills, known }: At & { readonly skills: readonly { readonly name: string }[] },
): void {
  if (approvals !== undefined) checkRules(problems, approvals, { place: `${place}.approvals`, known })
  if (sandbox !== undefined) checkSandbox(problems, sandbox, `${place}.sandbox`)
  if (wanted === undefined) return
  if (!Array.isArray(wanted)) problems.push({ place: `${place}.skills`, message: `expected a list of names, found ${show(wanted)}` })
  else for (const [index, name] of wanted.entries()) checkSkill(problems, name, { place: `${place}.skills[${index}]`, skills })
}

function checkSkill(
  problems: Problem[],
  name: unknown,
  { place, skills }: { readonly place: string; readonly skills: readonly { readonly name: string }[] },
): void {
  const names = skills.flatMap((skill: unknown) => (isRecord(skill) && typeof skill.name === 'string' ? [skill.name] : []))
  if (names.includes(name as string)) return
  const remedy = knownNames(typeof name === 'string' ? name : '', names, 'skill')
  problems.push({ place, message: `there is no skill ${show(name)}`, remedy })
}

const sandboxKinds: { readonly [Key in keyof SandboxPolicy]-?: { readonly expected: string; fits(value: unknown): boolean } } = {
  mode: { expected: 'required or off', fits: (value) => value === 'required' || value === 'off' },
  hosts: { expected: 'a list of hosts', fits: (value) => isTexts(value) },
  privateHosts: { expected: 'a list of hosts', fits: (value) => isTexts(value) },
  writable: { expected: 'a list of folders', fits: (value) => isTexts(value) },
  environment: { expected: 'a list of names of variables', fits: (value) => isTexts(value) },
  memory: { expected: 'a number of bytes', fits: (value) => isCount(value) },
  processes: { expected: 'a number of processes', fits: (value) => isCount(value) },
}

function checkSandbox(problems: Problem[], sandbox: unknown, place: string): void {
  if (!isPlainRecord(sandbox)) {
    problems.push({ place, message: `expected an object, found ${show(sandbox)}` })
    return
  }
  checkKeys(problems, sandbox, { known: Object.keys(sandboxKinds), place })
  for (const [key, { expected, fits }] of Object.entries(sandboxKinds)) {
    if (sandbox[key] !== undefined && !fits(sandbox[key]))
      problems.push({ place: `${place}.${key}`, message: `expected ${expected}, found ${show(sandbox[key])}` })
  }
}

/** A policy that a runtime is given says everything; an agent's says what it wants more tightly. */
export function checkWholeSandbox(problems: Problem[], sandbox: unknown, place: string): void {
  checkSandbox(problems, sandbox, place)
  if (!isRecord(sandbox)) return
  for (const [key, { expected }] of Object.entries(sandboxKinds))
    if (sandbox[key] === undefined) problems.push({ place: `${place}.${key}`, message: `expected ${expected}, found nothing` })
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1
