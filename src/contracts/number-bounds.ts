import type { ModelParameters } from './agent.ts'

/** Bounds of a number, inclusive. Without `max` there is no maximum. */
export interface NumberBounds {
  readonly kind: 'integer' | 'number'
  readonly min?: number
  readonly max?: number
}

export const isWithin = (
  value: unknown,
  { kind, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: NumberBounds,
): value is number =>
  (kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)) && Number(value) >= min && Number(value) <= max

/** `an integer of at least 1`, `a number from 0 to 2`. */
export function describeBounds({ kind, min, max }: NumberBounds): string {
  const number = kind === 'integer' ? 'an integer' : 'a number'
  if (min === undefined) return max === undefined ? number : `${number} of at most ${max}`
  return max === undefined ? `${number} of at least ${min}` : `${number} from ${min} to ${max}`
}

export const parameterBounds = {
  temperature: { kind: 'number', min: 0, max: 2 },
  topP: { kind: 'number', min: 0, max: 1 },
  maxOutputTokens: { kind: 'integer', min: 1 },
  seed: { kind: 'integer' },
} as const satisfies { readonly [Key in keyof ModelParameters]?: NumberBounds }
