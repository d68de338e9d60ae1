import type { AgentLimits, ModelParameters } from './agent.ts'

/** Bounds of a number. Without `most` there is no maximum. */
export interface NumberBounds {
  readonly kind: 'whole' | 'number'
  readonly least?: number
  readonly most?: number
}

const atLeast = (least: number): NumberBounds => ({ kind: 'whole', least })

/** The same in programs, agent files, configurations and commands. */
export const limitBounds: { readonly [Key in keyof AgentLimits]-?: NumberBounds } = {
  maxToolTurns: atLeast(1),
  maxTokens: atLeast(1),
  maxSessionTokens: atLeast(1),
  maxCostUsd: { kind: 'number', least: 0, most: 1_000_000 },
  maxCalls: atLeast(0),
  timeBudget: atLeast(1),
  llmTimeout: atLeast(1),
  idleTimeout: atLeast(1),
  replyTimeout: atLeast(1),
  toolTimeout: atLeast(1),
  maxRetries: atLeast(0),
  parallelToolCalls: atLeast(1),
  // Less has no room for head, tail and the hint how to read the rest.
  maxOutputBytes: atLeast(512),
  maxDepth: atLeast(0),
  maxChildren: atLeast(0),
  parallelChildren: atLeast(1),
}

export const parameterBounds = {
  temperature: { kind: 'number', least: 0, most: 2 },
  topP: { kind: 'number', least: 0, most: 1 },
  maxOutputTokens: atLeast(1),
  seed: { kind: 'whole' },
} as const satisfies { readonly [Key in keyof ModelParameters]?: NumberBounds }
