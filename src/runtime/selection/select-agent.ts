import { type AgentSpec, type AskedFirst, type Diagnostic, type InputPart, type MaybePromise, TroupeError } from '../../contracts/index.ts'
import { mentionsName, sharedWords, wordsOf } from '../../util/common-words.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import type { AgentDefinition, AgentLoopConfig, AgentSelection } from '../options/agent-config.ts'

export interface Selected {
  readonly agent: AgentSpec
  /** `explicit`, `only`, `match`, `model` or `default`; followed by a colon and the cause if it is a fallback. */
  readonly reason: string
  readonly scores: { readonly [agent: string]: number }
  /** The request to a model that made the choice. */
  readonly asked?: AskedFirst
  /** For the person who started the run. */
  readonly notice?: Diagnostic
}

export function withAgent(selected: MaybePromise<Selected>, change: (agent: AgentSpec) => AgentSpec): MaybePromise<Selected> {
  if (selected instanceof Promise) return selected.then((found) => withAgent(found, change))
  return { ...selected, agent: change(selected.agent) }
}

/** Default: the only agent; of several, the best match for the request. */
export function selectionOf({ agentSelection, agents }: AgentLoopConfig): AgentSelection {
  return agentSelection ?? (agents.length > 1 ? { infer: 'match' } : { agent: agents[0]?.name ?? '' })
}

/** Agents that can be selected by the request: those that no other agent calls, and those that set `infer: true`. */
export function candidateNames(agents: readonly AgentDefinition[]): ReadonlySet<string> {
  const called = new Set(agents.flatMap(({ agents: children = [] }) => children))
  const open = agents.filter(({ infer }) => infer !== false)
  const topLevel = open.filter(({ name, infer }) => infer === true || !called.has(name))
  return new Set((topLevel.length > 0 ? topLevel : open).map(({ name }) => name))
}

/** @throws TroupeError `agent_unknown` that lists the agents. */
export function findAgent(agents: readonly AgentSpec[], name: string): AgentSpec {
  const agent = agents.find((each) => each.name === name)
  if (agent) return agent
  const names = agents.map((each) => each.name)
  throw new TroupeError('agent_unknown', `Unknown agent "${name}".`, { remedy: knownNames(name, names, 'agent') })
}

export const onlyAgent = ([agent, ...others]: readonly AgentSpec[]): Selected | undefined =>
  agent && others.length === 0 ? { agent, reason: 'only', scores: {} } : undefined

/** Most words shared with the request win; a named agent gets one point more; ties go to the first by name. None: a diagnostic. */
export function matchAgent(candidates: readonly AgentSpec[], input: readonly InputPart[]): Selected {
  const text = textOfParts(input, ' ')
  const wanted = wordsOf(text)
  const scored = candidates.map((agent) => ({
    agent,
    score: sharedWords(agentText(agent), wanted) + (mentionsName(text, agent.name) ? 1 : 0),
  }))
  const best = scored.toSorted((a, b) => b.score - a.score || (a.agent.name < b.agent.name ? -1 : 1))[0]
  if (!best) throw new TroupeError('internal', 'There is no agent to select.')
  const scores = Object.fromEntries(scored.map(({ agent, score }) => [agent.name, score]))
  if (best.score > 0) return { agent: best.agent, reason: 'match', scores }
  return { agent: best.agent, reason: 'default: no agent matches the request', scores, notice: unmatched(best.agent, candidates) }
}

const agentText = ({ name, displayName = '', description, usage = '' }: AgentSpec): string =>
  `${name} ${displayName} ${description} ${usage}`

const unmatched = ({ name }: AgentSpec, candidates: readonly AgentSpec[]): Diagnostic => ({
  code: 'agent_unmatched',
  severity: 'warning',
  message: `No agent shares a word with the request. "${name}" answers: it is the first by name of ${candidates.map((each) => each.name).join(', ')}.`,
  remedy: "Name the agent (`run(input, { agent })`), describe agents in the words of requests, or set agentSelection: { infer: 'model' }.",
})
