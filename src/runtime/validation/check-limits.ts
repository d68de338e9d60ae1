import {
  type AgentLimits,
  limitBounds,
  type ModelParameters,
  type NumberBounds,
  type Problem,
  parameterBounds,
  reasoningEfforts,
} from '../../contracts/index.ts'
import { checkKeys, show } from '../../util/option-problems.ts'

export function checkLimits(problems: Problem[], limits: Partial<AgentLimits>, place: string): void {
  checkKeys(problems, limits, { known: Object.keys(limitBounds), place })
  for (const [key, value] of Object.entries(limits)) {
    const bounds = Object.hasOwn(limitBounds, key) ? limitBounds[key as keyof AgentLimits] : undefined
    if (bounds && !isWithin(value, bounds)) problems.push(unexpected(`${place}.${key}`, boundsInWords(bounds), value))
  }
}

const others = {
  reasoning: {
    expected: `one of ${reasoningEfforts.join(', ')}`,
    fits: (value: unknown) => (reasoningEfforts as readonly unknown[]).includes(value),
  },
  cache: { expected: 'true or false', fits: (value: unknown) => typeof value === 'boolean' },
} satisfies { readonly [Key in Exclude<keyof ModelParameters, keyof typeof parameterBounds>]: unknown }

export function checkParameters(problems: Problem[], parameters: ModelParameters, place: string): void {
  checkKeys(problems, parameters, { known: [...Object.keys(parameterBounds), ...Object.keys(others)], place })
  for (const [key, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    const bounds = Object.hasOwn(parameterBounds, key) ? parameterBounds[key as keyof typeof parameterBounds] : undefined
    const other = Object.hasOwn(others, key) ? others[key as keyof typeof others] : undefined
    if (bounds && !isWithin(value, bounds)) problems.push(unexpected(`${place}.${key}`, boundsInWords(bounds), value))
    if (other && !other.fits(value)) problems.push(unexpected(`${place}.${key}`, other.expected, value))
  }
}

function isWithin(value: unknown, { kind, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: NumberBounds): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (kind === 'whole' && !Number.isInteger(value))) return false
  return value >= least && value <= most
}

function boundsInWords({ kind, least, most }: NumberBounds): string {
  const number = kind === 'whole' ? 'a whole number' : 'a number'
  if (least === undefined) return number
  return most === undefined ? `${number} of at least ${least}` : `${number} between ${least} and ${most}`
}

const unexpected = (place: string, expected: string, value: unknown): Problem => ({
  place,
  message: `expected ${expected}, found ${show(value)}`,
})
