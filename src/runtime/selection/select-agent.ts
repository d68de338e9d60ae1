import { type AgentSpec, type AskedFirst, type Diagnostic, type InputPart, TroupeError } from '../../contracts/index.ts'
import { mentionsName, sharedWords, wordsOf } from '../../util/common-words.ts'

/** Which agent speaks: this one, or the one that fits the request best, by its words or in the opinion of a model. */
export type AgentSelection = { readonly agent: string } | { readonly infer: 'match' | 'model' }

export interface Selected {
  readonly agent: AgentSpec
  /** `explicit`, `only`, `match`, `model`, `default`; with a remark where it did not go as wished. */
  readonly reason: string
  readonly scores: { readonly [agent: string]: number }
  /** What asking took, where a model was asked. */
  readonly asked?: AskedFirst
  /** What the person has to know about the choice. */
  readonly notice?: Diagnostic
}

/** Whom words or a model choose, unless there is no choice. */
export const onlyAgent = ([agent, ...others]: readonly AgentSpec[]): Selected | undefined =>
  agent && others.length === 0 ? { agent, reason: 'only', scores: {} } : undefined

/**
 * The agent that shares most words with the request in its name, description and usage; one that the request names gets one more.
 * Of equals the first by name, also where no agent shares a word: then a diagnostic says so.
 */
export function matchAgent(candidates: readonly AgentSpec[], input: readonly InputPart[]): Selected {
  const text = textOf(input)
  const wanted = wordsOf(text)
  const scored = candidates.map((agent) => ({
    agent,
    score: sharedWords(wordingOf(agent), wanted) + (mentionsName(text, agent.name) ? 1 : 0),
  }))
  const best = scored.toSorted((a, b) => b.score - a.score || (a.agent.name < b.agent.name ? -1 : 1))[0]
  if (!best) throw new TroupeError('internal', 'There is no agent to choose from.')
  const scores = Object.fromEntries(scored.map(({ agent, score }) => [agent.name, score]))
  if (best.score > 0) return { agent: best.agent, reason: 'match', scores }
  return { agent: best.agent, reason: 'default: no agent matches the request', scores, notice: unmatched(best.agent, candidates) }
}

const wordingOf = ({ name, displayName = '', description, usage = '' }: AgentSpec): string =>
  `${name} ${displayName} ${description} ${usage}`

const unmatched = ({ name }: AgentSpec, candidates: readonly AgentSpec[]): Diagnostic => ({
  code: 'agent_unmatched',
  severity: 'warning',
  message: `No agent shares a word with the request: "${name}" answers, the first by name of ${candidates.map((each) => each.name).join(', ')}.`,
  remedy: "Name the agent (`run(input, { agent })`), describe agents in the words of requests, or set agentSelection: { infer: 'model' }.",
})

const textOf = (input: readonly InputPart[]): string => input.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
