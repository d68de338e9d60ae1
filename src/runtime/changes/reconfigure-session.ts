import type { AgentChanges, AgentLimits, AgentSpec, Json, SendOptions, SessionSettings } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { haveSameJson, isSameJson } from '../../util/json-values.ts'
import type { OpenOptions } from '../options/agent-runtime.ts'
import type { ModelCache } from '../parts/model-cache.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'

export type Changes = AgentChanges & Pick<OpenOptions, 'definitions'>

/** The agent with the changes; `undefined` if nothing changes. */
export function changedAgent(agent: AgentSpec, changes: Changes): AgentSpec | undefined {
  const changed = withChanges(agent, changes)
  return changesOf(agent, changed).length > 0 ? changed : undefined
}

/** The definition of an agent with what the caller of a session set instead. */
export function withChanges(agent: AgentSpec, changes: AgentChanges): AgentSpec {
  const { models, limits, lowered, parameters, instructions, output } = changes
  const set = { ...agent.limits, ...limits }
  const lower = lowered ? lowerLimits(set, lowered) : set
  return {
    ...agent,
    ...(instructions && { prompt: agent.prompt === '' ? instructions : `${agent.prompt}\n\n${instructions}` }),
    models: [...(models ?? agent.models)],
    limits: lower,
    ...(lower.toolTimeout < set.toolTimeout && { saysToolTimeout: true }),
    parameters: { ...agent.parameters, ...definedOnly(parameters) },
    ...(output && { output, saysOutput: true }),
  }
}

function lowerLimits(limits: AgentLimits, lowered: Partial<AgentLimits>): AgentLimits {
  const lower = Object.entries(lowered).map(([key, value]) => [key, Math.min(value, Reflect.get(limits, key) ?? value)])
  return { ...limits, ...Object.fromEntries(lower) }
}

/** The definition of the agent of a session with everything that its caller set instead. */
export function withCallerSettings(definition: AgentSpec, { agent, changes }: Pick<SessionState, 'agent' | 'changes'>): AgentSpec {
  const changed = changes ? withChanges(definition, changes) : definition
  return agent.saysOutput && changes?.output === undefined ? { ...changed, output: agent.output, saysOutput: true } : changed
}

/** The recorded agent with instructions that came since its turn began. */
export function withStepInstructions(state: SessionState, { agents, sessionSetup }: RuntimeParts): AgentSpec {
  const definition = agents.get(state.agent.name)
  return definition ? { ...state.agent, prompt: sessionSetup.withSkillList(withCallerSettings(definition, state)).prompt } : state.agent
}

/** The recorded agent with settings that were added since. */
export function withNewSettings({ agent, changes }: SessionState): AgentSpec {
  const { instructions: _, ...settings } = changes ?? {}
  return withChanges(agent, settings)
}

/** `undefined` if nothing is set. */
export function changesOfSettings({
  models,
  limits,
  parameters,
  instructions,
  output,
  clientTools,
  toolChoice,
}: SessionSettings & Pick<SendOptions, 'instructions' | 'output'>): AgentChanges | undefined {
  const lowered = definedOnly(limits)
  const set = definedOnly(parameters)
  const changes = {
    ...(models && { models: [...models] }),
    ...(Object.keys(lowered).length > 0 && { lowered }),
    ...(Object.keys(set).length > 0 && { parameters: set }),
    ...(instructions !== undefined && { instructions: instructions.toWellFormed() }),
    ...(output !== undefined && { output: structuredClone(output) }),
    ...(clientTools && { clientTools: structuredClone(clientTools) }),
    ...(toolChoice !== undefined && { toolChoice: structuredClone(toolChoice) }),
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/** Records the changes. Context windows that were learnt from a model are kept. */
export function reconfigure(session: ActiveSession, options: Changes, models: ModelCache): void {
  const { state } = session
  const agent = changedAgent(state.agent, options)
  if (!agent) return
  const isPriced = agent.limits.maxCostUsd !== undefined || Object.keys(state.prices).length > 0
  const learnt = Object.fromEntries(Object.entries(state.windows).filter(([name]) => agent.models.includes(name)))
  session.note({
    type: 'interaction.session.configured',
    agent,
    tools: state.tools,
    promptChars: state.promptChars,
    prices: isPriced ? models.prices(agent) : {},
    windows: { ...models.windows(agent), ...learnt },
    maxOutputs: models.maxOutputs(agent),
    changes: {
      ...(options.models && { models: agent.models }),
      ...onlyGiven('limits', options.limits),
      ...onlyGiven('parameters', options.parameters),
    },
    reason: `Resumed with other ${changesOf(state.agent, agent).join(', ')}.`,
  })
}

/** Clients send their tools and instructions with every result: those that the session has already change nothing. */
export function newSettings(
  { clientTools, toolChoice, instructions, ...rest }: AgentChanges,
  { changes, toolChoice: chosen }: SessionState,
): AgentChanges {
  return {
    ...rest,
    ...(instructions !== undefined && instructions !== (changes?.instructions ?? '') && { instructions }),
    ...(clientTools && !haveSameJson(clientTools, changes?.clientTools ?? []) && { clientTools }),
    ...(toolChoice !== undefined && !isSameJson(toolChoice as Json, (chosen ?? 'auto') as Json) && { toolChoice }),
  }
}

/** Records what the caller sets, and returns what is new of it. It takes effect when the session adopts it. */
export function recordSettings(session: ActiveSession, given: AgentChanges): AgentChanges {
  const changes = newSettings(given, session.state)
  if (Object.keys(changes).length === 0) return changes
  const { agent, tools, promptChars, prices, windows, maxOutputs } = session.state
  const reason = changes.clientTools || changes.toolChoice ? 'Settings for the next step.' : 'Settings for the next turn.'
  session.note({ type: 'interaction.session.configured', agent, tools, promptChars, prices, windows, maxOutputs, changes, reason })
  return changes
}

/** For a child that was created before an ancestor had a cost limit. */
export function addPrices(session: ActiveSession, models: ModelCache): void {
  const { agent, tools, promptChars, windows, maxOutputs, prices: known } = session.state
  const prices = models.prices(agent)
  if (Object.keys(prices).every((name) => Object.hasOwn(known, name))) return
  const reason = 'An ancestor has a cost limit now.'
  session.note({ type: 'interaction.session.configured', agent, tools, promptChars, prices, windows, maxOutputs, reason })
}

/** `limits.maxTokens`, `models`, … */
function changesOf(before: AgentSpec, now: AgentSpec): readonly string[] {
  const changedKeys = (group: 'limits' | 'parameters'): readonly string[] =>
    Object.entries(now[group]).flatMap(([key, value]) => (value === Reflect.get(before[group], key) ? [] : [`${group}.${key}`]))
  const areSame = now.models.length === before.models.length && now.models.every((name, index) => name === before.models[index])
  return [...(areSame ? [] : ['models']), ...changedKeys('limits'), ...changedKeys('parameters')]
}

const onlyGiven = (key: 'limits' | 'parameters', given: object | undefined): AgentChanges => (given ? { [key]: definedOnly(given) } : {})

/** An `undefined` value means the same as none. */
const definedOnly = (parameters: object = {}): object =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined))
