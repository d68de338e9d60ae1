import type { AgentSpec, InputPart, ModelRequest, Reservation, TokenPrice } from '../../contracts/index.ts'
import { accountKeys, priceOf, type Resource, resourceOf } from '../../core/index.ts'
import { findJson } from '../../util/find-json.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import { askOnce, charsPerToken, type InquiryOptions } from './model-inquiry.ts'
import { matchAgent, type Selected } from './select-agent.ts'

// A model selects the agent. The selected agent pays for the request, which may take half of the tightest budget of all candidates.

const outputTokens = 1_024
const partChars = 4_000

interface SelectionOptions {
  readonly inquiryOptions: InquiryOptions
  readonly startInterrupt: Interrupt
  /** The account of the owner, if it has a budget: the request takes at most half of what is left. */
  readonly account: Pick<TreeAccount, 'reserveSelection'> | undefined
}

/** Asks once. If that is impossible or the answer names no candidate, the words of the request decide. */
export async function askModelForAgent(
  candidates: readonly AgentSpec[],
  input: readonly InputPart[],
  { inquiryOptions, startInterrupt, account }: SelectionOptions,
): Promise<Selected> {
  const matched = matchAgent(candidates, input)
  const request = questionOf(candidates, input)
  const reservation = reserved(request, inquiryOptions.price)
  const short = shortBudget(candidates, reservation) ?? account?.reserveSelection(reservation)
  const unasked = matched.notice ? 'default' : 'match'
  if (short) return { ...matched, reason: `${unasked}: asking a model would take more than half of the ${shortNames[short]} budget` }
  const ms = halfOf(candidates, 'time')
  const inquiry = { request, reservation, timeMs: Number.isFinite(ms) ? ms : undefined }
  const { text, asked } = await askOnce(inquiryOptions, inquiry, startInterrupt)
  const names = candidates.map(({ name }) => name)
  const said = findJson(text)?.value
  const wanted = typeof said === 'object' && said !== null && 'agent' in said ? String(said.agent) : text.trim()
  const name = names.find((each) => each === wanted) ?? nearestNames(wanted, names, 1)[0]
  const agent = asked.failure ? undefined : candidates.find((each) => each.name === name)
  if (agent) return { agent, reason: 'model', scores: matched.scores, asked }
  return { ...matched, reason: `${unasked}: ${asked.failure?.message ?? 'the model named no known agent'}`, asked }
}

function questionOf(candidates: readonly AgentSpec[], input: readonly InputPart[]): ModelRequest {
  const names = candidates.map(({ name }) => name)
  return {
    system: `Choose the agent that handles the request. Answer with JSON like {"agent": "${names[0]}"}.\n${candidates.map(described).join('\n')}`,
    messages: [{ role: 'user', parts: input }],
    tools: [],
    toolChoice: 'none',
    parameters: { maxOutputTokens: outputTokens },
    output: {
      schema: { type: 'object', properties: { agent: { type: 'string', enum: names } }, required: ['agent'], additionalProperties: false },
    },
  }
}

const described = ({ name, description, usage }: AgentSpec): string =>
  usage === undefined ? `- ${name}: ${description}` : `- ${name}: ${description} (for example: ${usage})`

function reserved({ system, messages }: ModelRequest, price: TokenPrice | undefined): Reservation {
  const parts = messages.flatMap((message) => (message.role === 'user' ? message.parts : []))
  const chars = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : partChars), system.length)
  const input = Math.ceil(chars / charsPerToken)
  return { input, output: outputTokens, ...(price && { costUsd: priceOf(price, { input, output: outputTokens }) }) }
}

function shortBudget(candidates: readonly AgentSpec[], { input, output, costUsd = 0 }: Reservation): 'tokens' | 'cost' | undefined {
  if (input + output > halfOf(candidates, 'tokens')) return 'tokens'
  return costUsd > halfOf(candidates, 'cost') ? 'cost' : undefined
}

const shortNames = { tokens: 'token', cost: 'cost' } as const

/** Half of the tightest limit of any candidate, or infinity: which of them will run is not known yet. */
function halfOf(candidates: readonly AgentSpec[], resource: Resource): number {
  const keys = accountKeys.filter((key) => resourceOf[key] === resource)
  return Math.min(...candidates.flatMap(({ limits }) => keys.map((key) => limits[key] ?? Number.POSITIVE_INFINITY))) / 2
}
