import type { Raw } from './targets.mjs'
export interface Rows {
  readonly [name: string]: readonly { readonly value: number; readonly unit: string; readonly base?: { readonly title: string; readonly value: number } }[]
}
export interface Panel {
  readonly title: string
  readonly rows: readonly { readonly label: string; readonly value: number; readonly ours: boolean }[]
}
export function chart(panels: readonly Panel[]): string
export function resultsChart(raw: Raw, peers: { readonly [peer: string]: { readonly title: string } }, rows?: Rows): string | undefined
