import type { TurnReason, Usage } from '../contracts/index.ts'

/** `82 ms`, `1.43 s`, `2 m 05 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

/** `120 → 46`; `~` where a part of it is our estimate. */
export function tokens({ input, output, estimated }: Usage): string {
  return `${estimated ? '~' : ''}${compact(input)} → ${compact(output)}`
}

function compact(n: number): string {
  if (n < 10_000) return String(n)
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`
}

export const reasonText: { readonly [Reason in TurnReason]: string } = {
  steps: 'steps ran out',
  tokens: 'tokens ran out',
  time: 'time ran out',
  calls: 'calls ran out',
  stopped: 'stopped',
  interrupted: 'interrupted',
  approval: 'an approval is needed',
  denied: 'an approval was denied',
  model: 'the model failed',
  config: 'the configuration is wrong',
  store: 'the store failed',
  internal: 'a fault of Troupe itself',
}
