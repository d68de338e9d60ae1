import { addSpent, noUsage, type Spent } from '../../../contracts/index.ts'
import type { Span } from '../../../view/index.ts'

/** One line of the tree before layout, with its detail lines. */
export interface Row {
  readonly kind: 'agent' | 'child' | 'step' | 'call' | 'attempt' | 'note'
  readonly icon?: string
  readonly label: string
  /** Subject, shown after the label. */
  readonly about?: string
  /** Shown dimmed after the subject. */
  readonly note?: string
  /** Shown where the note does not fit. The last is not cut while subject, tokens, name and time can give way. */
  readonly shorterNotes?: readonly [...string[], string]
  readonly shade?: 'red' | 'yellow' | 'cyan' | 'bold'
  /** Default: the shade of the row. */
  readonly iconShade?: 'green' | 'cyan' | 'yellow'
  readonly mark?: string
  readonly time?: string
  readonly tokens?: string
  readonly span?: Span
  readonly details?: readonly Detail[]
}

/** `streamed`: text that is still arriving. Its end is shown. */
export type Detail =
  | { readonly text: string; readonly shade: 'red' | 'yellow' | 'dim' }
  | { readonly streamed: 'text' | 'reasoning'; readonly text: string }

/** Totals of a branch, for the summary of collapsed branches. */
export interface RowTotals {
  readonly steps: number
  readonly calls: number
  readonly failed: number
  /** Calls that left the sandbox. */
  readonly outside: number
  readonly spent: Spent
}

export interface RowNode {
  readonly row: Row
  readonly children: readonly RowNode[]
  /** `ended`: nothing in the branch is running. */
  readonly state: 'ended' | 'waiting' | 'running'
  readonly endedAt: number
  readonly tally: RowTotals
}

/** `final`: no process drives the run, or its end is known. */
export type Moment = { readonly kind: 'final' } | { readonly kind: 'live'; readonly now: number }

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
export const spinnerMs = 80
export const spinnerAt = (now: number): string => spinner[Math.floor(now / spinnerMs) % spinner.length] ?? ''

const nothing: RowTotals = { steps: 0, calls: 0, failed: 0, outside: 0, spent: { usage: noUsage, cost: 0 } }

export function sumOf(tallies: readonly RowTotals[]): RowTotals {
  return tallies.reduce(
    (sum, { steps, calls, failed, outside, spent }) => ({
      steps: sum.steps + steps,
      calls: sum.calls + calls,
      failed: sum.failed + failed,
      outside: sum.outside + outside,
      spent: addSpent(sum.spent, spent.usage, spent.cost),
    }),
    nothing,
  )
}

export const leafRow = (row: Row, endedAt: number): RowNode => ({ row, children: [], state: 'ended', endedAt, tally: nothing })

export const joinParts = (parts: readonly string[]): string => parts.filter(Boolean).join(' · ')

/** A node with the glyphs before its own line and before the lines of its children. */
export interface Stemmed<Node> {
  readonly node: Node
  readonly stem: string
  readonly rest: string
}

/** A node and its descendants, in the order of their lines. */
export function withStems<Node extends { readonly children: readonly Node[] }>(node: Node, stem = '', rest = ''): readonly Stemmed<Node>[] {
  const below = node.children.flatMap((child, i) => {
    const isLast = i === node.children.length - 1
    return withStems(child, `${rest}${isLast ? '└─ ' : '├─ '}`, `${rest}${isLast ? '   ' : '│  '}`)
  })
  return [{ node, stem, rest }, ...below]
}
