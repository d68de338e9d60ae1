import type { ModelParameters } from './agent.ts'

/** Bounds of a number. Without `most` there is no maximum. */
export interface NumberBounds {
  readonly kind: 'whole' | 'number'
  readonly least?: number
  readonly most?: number
}

export const atLeast = (least: number): NumberBounds => ({ kind: 'whole', least })

export const parameterBounds = {
  temperature: { kind: 'number', least: 0, most: 2 },
  topP: { kind: 'number', least: 0, most: 1 },
  maxOutputTokens: atLeast(1),
  seed: { kind: 'whole' },
} as const satisfies { readonly [Key in keyof ModelParameters]?: NumberBounds }
