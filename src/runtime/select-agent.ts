import type { AgentSpec, AskedFirst, InputPart } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { sharedWords, wordsOf } from '../util/shared-words.ts'

/** Which agent speaks: this one, or the one that fits the request best, by its words or in the opinion of a model. */
export type AgentSelection = { readonly agent: string } | { readonly infer: 'match' | 'model' }

export interface Selected {
  readonly agent: AgentSpec
  /** `explicit`, `only`, `match`, `model`; with a remark where it did not go as wished. */
  readonly reason: string
  readonly scores: { readonly [agent: string]: number }
  /** What asking took, where a model was asked. */
  readonly asked?: AskedFirst
}

/** Whom words or a model choose, unless there is no choice. */
export const onlyAgent = ([agent, ...others]: readonly AgentSpec[]): Selected | undefined =>
  agent && others.length === 0 ? { agent, reason: 'only', scores: {} } : undefined

/** The agent that shares most words with the request in its name and description; of equals the first by name. */
export function matchAgent(candidates: readonly AgentSpec[], input: readonly InputPart[]): Selected {
  const wanted = wordsOf(textOf(input))
  const scored = candidates.map((agent) => ({
    agent,
    score: sharedWords(`${agent.name} ${agent.displayName ?? ''} ${agent.description}`, wanted),
  }))
  const best = scored.toSorted((a, b) => b.score - a.score || (a.agent.name < b.agent.name ? -1 : 1))[0]
  if (!best) throw new TroupeError('internal', 'There is no agent to choose from.')
  return { agent: best.agent, reason: 'match', scores: Object.fromEntries(scored.map(({ agent, score }) => [agent.name, score])) }
}

const textOf = (input: readonly InputPart[]): string => input.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
