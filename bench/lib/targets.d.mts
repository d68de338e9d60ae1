// Types for the tests; the benchmark itself is plain JavaScript.
export interface Measurement {
  readonly run?: number
  readonly min?: number
  readonly median?: number
  readonly ms?: number
  readonly error?: string
}
export interface Raw {
  readonly [peer: string]: { readonly [workload: string]: readonly Measurement[] }
}
export interface Target {
  readonly peer: string
  readonly workload: string
  readonly over: string
  readonly overWorkload?: string
  readonly limit: number
  readonly below?: boolean
}
export interface Verdict {
  readonly target: Target
  readonly status: 'met' | 'missed' | 'failed' | 'not measured'
  readonly ratio?: number
  readonly medianRatio?: number
  readonly base?: { readonly peer: string; readonly workload: string; readonly min: number; readonly median: number }
  readonly error?: string
}
export const targets: readonly Target[]
export function assess(raw: Raw, list?: readonly Target[]): Verdict[]
export function targetsTable(raw: Raw, peers: { readonly [peer: string]: { readonly title: string } }): string
