import type { AgentSpec, Cost, InputPart, Model, Usage } from '../contracts/index.ts'
import { noUsage } from '../contracts/index.ts'
import { jsonIn } from '../util/json-in.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { sharedWords, wordsOf } from '../util/shared-words.ts'

/** Which agent speaks: this one, or the one that fits the request best, by its words or in the opinion of a model. */
export type AgentSelection = { readonly agent: string } | { readonly infer: 'match' | 'model' }

export interface Selected {
  readonly agent: AgentSpec
  /** `explicit`, `only`, `match`, `model`; with a remark where it did not go as wished. */
  readonly reason: string
  readonly scores: { readonly [agent: string]: number }
  /** What asking took, where a model chose. */
  readonly asked?: { readonly model: string; readonly usage: Usage; readonly cost: Cost }
}

/** The agent that shares most words with the request in its name and description; of equals the first by name. */
export function matchAgent(candidates: readonly AgentSpec[], input: readonly InputPart[]): Selected {
  const wanted = wordsOf(textOf(input))
  const scored = candidates.map((agent) => ({
    agent,
    score: sharedWords(`${agent.name} ${agent.displayName ?? ''} ${agent.description}`, wanted),
  }))
  const best = scored.toSorted((a, b) => b.score - a.score || (a.agent.name < b.agent.name ? -1 : 1))[0]
  if (!best) throw new Error('There is no agent to choose from.')
  return { agent: best.agent, reason: 'match', scores: Object.fromEntries(scored.map(({ agent, score }) => [agent.name, score])) }
}

/** One question to a model; where its answer names none of them, words decide. */
export async function askForAgent(candidates: readonly AgentSpec[], input: readonly InputPart[], model: Model): Promise<Selected> {
  const matched = matchAgent(candidates, input)
  const { text, usage, cost, failure } = await answerOf(model, candidates, input)
  const asked = { model: model.id, usage, cost }
  const names = candidates.map(({ name }) => name)
  const said = jsonIn(text)
  const wanted = typeof said === 'object' && said !== null && 'agent' in said ? String(said.agent) : text.trim()
  const name = names.find((each) => each === wanted) ?? nearestNames(wanted, names, 1)[0]
  const agent = candidates.find((each) => each.name === name)
  if (agent) return { ...matched, agent, reason: 'model', asked }
  return { ...matched, reason: `match: ${failure ?? 'the model named no agent that there is'}`, asked }
}

async function answerOf(
  model: Model,
  candidates: readonly AgentSpec[],
  input: readonly InputPart[],
): Promise<{ text: string; usage: Usage; cost: Cost; failure?: string }> {
  const names = candidates.map(({ name }) => name)
  const controller = new AbortController()
  const answer = { text: '', usage: noUsage, cost: 'unknown' as Cost }
  const request = {
    system: `Choose who is to handle the request. Answer with JSON like {"agent": "${names[0]}"}.\n${candidates.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
    messages: [{ role: 'user', parts: input }] as const,
    tools: [],
    toolChoice: 'none' as const,
    parameters: {},
    output: {
      schema: { type: 'object', properties: { agent: { type: 'string', enum: names } }, required: ['agent'], additionalProperties: false },
    },
  }
  try {
    for await (const part of model.stream(request, { signal: controller.signal })) {
      if (part.type === 'text') answer.text += part.text
      if (part.type === 'error') return { ...answer, failure: part.failure.message }
      if (part.type !== 'finish') continue
      const usage = part.usage ?? noUsage
      return { ...answer, usage, cost: part.costUsd ?? model.costOf?.(usage) ?? 'unknown' }
    }
    return { ...answer, failure: 'the model did not finish its answer' }
  } catch (error) {
    return { ...answer, failure: error instanceof Error ? error.message : String(error) }
  } finally {
    controller.abort()
  }
}

const textOf = (input: readonly InputPart[]): string => input.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
