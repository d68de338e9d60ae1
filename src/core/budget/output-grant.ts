import type { Reservation, TokenPrice } from '../../contracts/index.ts'
import type { Account, Headroom } from './accounts.ts'
import { priceOf } from './check-figures.ts'

// How much output a request is granted under shared limits.

/** Reserved if neither the agent nor the model states a maximum. */
const defaultOutputTokens = 32_000
/** Expected size of an answer from the reserve. */
export const lastAnswerTokens = 1_024
/** Less than this cannot be an answer. */
export const minAnswerTokens = 64

interface ModelMaximums {
  readonly agents?: number | undefined
  readonly models: number | undefined
  readonly window: number | undefined
}

/** The maximum of the agent, or else that of the model or of its context window. */
export function wantedOutput(input: number, { agents, models = defaultOutputTokens, window }: ModelMaximums): number {
  if (agents !== undefined) return agents
  return window === undefined ? models : Math.max(minAnswerTokens, Math.min(models, window - input))
}

export interface WantedReply {
  readonly input: number
  readonly want: number
  readonly price: TokenPrice | undefined
}

interface Grant {
  readonly output: number
  /** The resource that keeps the output below what is wanted. */
  readonly limit?: Reservation['limit'] | undefined
  /** Requests in flight of other sessions leave less than the floor. */
  readonly mustWait?: boolean
}

export function reservationOf({ input, price }: WantedReply, { output, limit }: Grant): Reservation {
  if (!price && !limit) return { input, output }
  return { input, output, ...(price && { costUsd: priceOf(price, { input, output }) }), ...(limit && { limit }) }
}

const tokenForToken: TokenPrice = { input: 1, output: 1 }

/**
 * The output that every account affords, at most what is wanted. Sessions that share an account get equal parts, but at
 * least `floor` if affordable. `answers`: 1 if this is the last request; 2 if a last answer must remain possible that reads
 * this output, too; `text` if it need not read this output.
 */
export function grantOutput(
  accounts: Headroom,
  { input, want, price }: WantedReply,
  { floor, answers }: { readonly floor: number; readonly answers: 1 | 2 | 'text' },
): Grant {
  const least = Math.min(want, floor)
  let output = want
  let limit: Grant['limit']
  let mustWait = false
  for (const account of accounts) {
    const { resource } = account
    const each = resource === 'tokens' ? tokenForToken : price
    if (resource === 'time' || !each) continue
    const affordable = affordableOutput(account, { input, price: each, answers })
    if (affordable < least && account.inFlight > 0) mustWait = true
    const part = Math.min(affordable, Math.max(least, Math.floor(affordable / account.sharers)))
    if (part >= output) continue
    output = part
    limit = resource
  }
  return { output, limit, mustWait }
}

function affordableOutput(
  { left }: Account,
  { input, price, answers }: { readonly input: number; readonly price: TokenPrice; readonly answers: 1 | 2 | 'text' },
): number {
  const reading = input * price.input
  const reserve = answers === 1 ? 0 : reading + lastAnswerTokens * price.output
  const sum = (left - reading - reserve) / (answers === 2 ? 2 : 1)
  return price.output > 0 ? Math.floor(sum / price.output) : sum >= 0 ? Number.MAX_SAFE_INTEGER : 0
}

/** Also the minimum for this check, so that it does not stop a reply too early. */
const defaultCharsPerToken = 4
const slackShare = 1.25
const slackTokens = 200

/** A reply with more characters ignores its output limit. Tokens are estimated, so there is some slack. */
export function maxReplyCharacters(maxOutputTokens: number | undefined, charsPerToken: number): number {
  if (maxOutputTokens === undefined) return Number.POSITIVE_INFINITY
  return (maxOutputTokens * slackShare + slackTokens) * Math.max(charsPerToken, defaultCharsPerToken)
}

/** `The model ` precedes it. */
export const exceededText = (maxOutputTokens: number): string => `exceeded its output limit of ${maxOutputTokens} tokens`
