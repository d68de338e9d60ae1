import type { PersonLimits } from 'troupe/extension'
import { isObject } from './is-object.ts'
import { type PlatformName, platformNames } from './platform.ts'

/** A rule matches if everything that it names matches. The first rule that matches decides; without one, the person is denied. */
export interface Rule {
  readonly platform?: PlatformName
  /** Such as `slack:C1`, or `C1`. `dm`: direct messages. */
  readonly channel?: string
  /** Such as `slack:U1`, or `U1`. `*`: everybody, in so many words. */
  readonly person?: string
  /** A slash command, such as `/review`. */
  readonly command?: string
  /** Default: the orchestrator. */
  readonly agent?: string
  readonly deny?: boolean
  readonly budget?: PersonLimits['budget']
  readonly messagesPerMinute?: number
}

/** Who writes, and where. */
export interface Origin {
  readonly platform: PlatformName
  /** Without the name of the platform. */
  readonly channel: string
  readonly isDirect: boolean
  readonly person: string
  readonly command?: string
}

/** Undefined: denied. */
export function ruleFor(rules: readonly Rule[], origin: Origin): Rule | undefined {
  const rule = rules.find((each) => matches(each, origin))
  return rule?.deny === true ? undefined : rule
}

/** The rules that name neither a person nor a place. Everybody can write a direct message. */
export const rulesForAnybody = (rules: readonly Rule[], platform: PlatformName): readonly number[] =>
  [...rules.entries()].flatMap(([index, rule]) => {
    const isAnywhere = [undefined, '*', 'dm'].includes(rule.channel)
    return isOn(rule, platform) && !rule.deny && rule.person === undefined && isAnywhere ? [index] : []
  })

/**
 * What a person may spend, wherever they write: of the first rule with a budget that can be about them. The rules behind one that is about
 * them everywhere do not count.
 */
export function budgetFor(rules: readonly Rule[], platform: PlatformName, person: string): PersonLimits['budget'] {
  const about = rules.filter((rule) => !rule.deny && isOn(rule, platform) && isNamed(rule.person, platform, person))
  const everywhere = about.findIndex(({ channel = '*', command }) => channel === '*' && command === undefined)
  return about.slice(0, everywhere < 0 ? undefined : everywhere + 1).find(({ budget }) => budget)?.budget
}

function matches(rule: Rule, { platform, channel, isDirect, person, command }: Origin): boolean {
  const isThere = rule.channel === 'dm' ? isDirect : isNamed(rule.channel, platform, channel)
  return isOn(rule, platform) && isThere && isNamed(rule.person, platform, person) && (!rule.command || rule.command === command)
}

const isOn = (rule: Rule, platform: PlatformName): boolean => rule.platform === undefined || rule.platform === platform
const isNamed = (expected: string | undefined, platform: PlatformName, id: string): boolean =>
  expected === undefined || expected === '*' || expected === id || expected === `${platform}:${id}`

export const limitsOf = ({ budget, messagesPerMinute }: Rule): PersonLimits | undefined =>
  budget || messagesPerMinute !== undefined
    ? { ...(budget && { budget }), ...(messagesPerMinute !== undefined && { messagesPerMinute }) }
    : undefined

type Report = (place: string, text: string) => void
interface Check {
  is(value: unknown): boolean
  readonly expected: string
}
const text: Check = { is: (value) => typeof value === 'string' && value !== '', expected: 'must be a text.' }
const count: Check = { is: (value) => typeof value === 'number' && value > 0, expected: 'must be a number above 0.' }
const budgetKeys = ['tokensPerDay', 'costUsdPerDay']
const checks: { readonly [key in keyof Rule]-?: Check } = {
  platform: { is: (value) => platformNames.includes(value as PlatformName), expected: `must be one of ${platformNames.join(', ')}.` },
  channel: text,
  person: text,
  command: { is: (value) => typeof value === 'string' && value.startsWith('/'), expected: 'must begin with a slash, such as "/troupe".' },
  agent: text,
  deny: { is: (value) => typeof value === 'boolean', expected: 'must be true or false.' },
  budget: {
    is: (value) => isObject(value) && Object.entries(value).every(([key, of]) => budgetKeys.includes(key) && count.is(of)),
    expected: `must be an object with ${budgetKeys.join(' or ')}, which are numbers above 0.`,
  },
  messagesPerMinute: count,
}

export function readRules(given: unknown, report: Report): readonly Rule[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) {
    report('rules', 'must be a list, such as [{ "platform": "slack", "person": "*" }].')
    return []
  }
  for (const [index, rule] of given.entries()) {
    const place = `rules[${index}]`
    if (!isObject(rule)) report(place, 'must be an object.')
    else for (const [key, value] of Object.entries(rule)) checkKey(`${place}.${key}`, value, report)
  }
  return given
}

function checkKey(place: string, value: unknown, report: Report): void {
  const key = place.slice(place.lastIndexOf('.') + 1)
  const check = Object.hasOwn(checks, key) ? checks[key as keyof Rule] : undefined
  if (!check) report(place, `is not known. A rule has ${Object.keys(checks).join(', ')}.`)
  else if (!check.is(value)) report(place, check.expected)
}
