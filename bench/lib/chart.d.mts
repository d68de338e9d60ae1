import type { Raw } from './targets.mjs'
export interface Panel {
  readonly title: string
  readonly rows: readonly { readonly label: string; readonly value: number; readonly ours: boolean }[]
}
export function chart(panels: readonly Panel[]): string
export function resultsChart(raw: Raw, peers: { readonly [peer: string]: { readonly title: string } }): string | undefined
