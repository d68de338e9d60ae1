import { type AgentTrust, type Problem, reasoningEfforts } from '../../contracts/index.ts'
import { checkKeys, expectObject, isListOfTexts, isRecord, show } from '../../util/option-problems.ts'
import type { AgentDefinition } from '../api/agent-config.ts'
import { checkInputContract, checkOutputContract } from './check-contracts.ts'
import { checkLimits, checkParameters } from './check-limits.ts'

const agentKeys = [
  'name',
  'displayName',
  'description',
  'prompt',
  'model',
  'models',
  'tools',
  'limits',
  'parameters',
  'reasoningEffort',
  'output',
  'usage',
  'toolName',
  'input',
  'agents',
  'infer',
  'skills',
  'approvals',
  'sandbox',
  'trust',
] satisfies (keyof AgentDefinition)[]

export function checkAgent(problems: Problem[], agent: AgentDefinition, place: string): void {
  checkKeys(problems, agent, { known: agentKeys, place })
  for (const key of ['name', 'description', 'prompt'] as const) {
    if (typeof agent[key] !== 'string' || agent[key].trim() === '')
      problems.push({ place: `${place}.${key}`, message: `expected a text, found ${show(agent[key])}` })
  }
  const { model, models } = agent
  if (model !== undefined && models !== undefined)
    problems.push({ place: `${place}.model`, message: 'expected either model or models, found both' })
  const names: readonly unknown[] = Array.isArray(models) ? models : [model]
  if (
    (models !== undefined && !Array.isArray(models)) ||
    names.length === 0 ||
    names.some((name) => typeof name !== 'string' || name === '')
  ) {
    problems.push({
      place: models === undefined ? `${place}.model` : `${place}.models`,
      message: `expected a model name, found ${show(models ?? model)}`,
      remedy: 'Give model: "provider/name", or models: a list in the order of trying.',
    })
  }
  if (agent.tools !== undefined && !isListOfTexts(agent.tools)) {
    problems.push({ place: `${place}.tools`, message: `expected a list of tool names, found ${show(agent.tools)}` })
  }
  if (expectObject(problems, agent.limits, `${place}.limits`)) checkLimits(problems, agent.limits, `${place}.limits`)
  if (expectObject(problems, agent.parameters, `${place}.parameters`)) checkParameters(problems, agent.parameters, `${place}.parameters`)
  checkEffort(problems, agent, place)
  if (expectObject(problems, agent.output, `${place}.output`)) checkOutputContract(problems, agent.output, `${place}.output`)
  if (expectObject(problems, agent.input, `${place}.input`)) checkInputContract(problems, agent.input, `${place}.input`)
  if (agent.infer !== undefined && typeof agent.infer !== 'boolean')
    problems.push({ place: `${place}.infer`, message: `expected true or false, found ${show(agent.infer)}` })
  if (expectObject(problems, agent.trust, `${place}.trust`)) checkTrust(problems, agent.trust, `${place}.trust`)
  for (const key of ['displayName', 'usage', 'toolName'] as const) {
    if (agent[key] !== undefined && typeof agent[key] !== 'string')
      problems.push({ place: `${place}.${key}`, message: `expected a text, found ${show(agent[key])}` })
  }
}

const trustKinds: { readonly [Key in keyof AgentTrust]-?: { readonly expected: string; fits(value: unknown): boolean } } = {
  isGiven: { expected: 'true or false', fits: (value) => typeof value === 'boolean' },
  place: { expected: 'a text', fits: (value) => typeof value === 'string' },
  toolsOtherwise: { expected: 'a list of tool names', fits: isListOfTexts },
  remedy: { expected: 'a text', fits: (value) => value === undefined || typeof value === 'string' },
}

function checkTrust(problems: Problem[], trust: AgentTrust, place: string): void {
  checkKeys(problems, trust, { known: Object.keys(trustKinds), place })
  for (const [key, { expected, fits }] of Object.entries(trustKinds)) {
    const value: unknown = trust[key as keyof AgentTrust]
    if (!fits(value)) problems.push({ place: `${place}.${key}`, message: `expected ${expected}, found ${show(value)}` })
  }
}

function checkEffort(problems: Problem[], { reasoningEffort, parameters }: AgentDefinition, place: string): void {
  if (reasoningEffort === undefined) return
  const at = `${place}.reasoningEffort`
  if (!reasoningEfforts.includes(reasoningEffort))
    problems.push({ place: at, message: `expected one of ${reasoningEfforts.join(', ')}, found ${show(reasoningEffort)}` })
  if (isRecord(parameters) && parameters.reasoning !== undefined)
    problems.push({
      place: at,
      message: 'expected either reasoningEffort or parameters.reasoning, found both',
      remedy: 'Leave one of them out.',
    })
}
