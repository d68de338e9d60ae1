import { plural } from '../../../util/plural.ts'
import { tokens } from '../../../view/index.ts'
import { heightOf } from './layout.ts'
import { type Row, type RowNode, type RowTotals, sumOf } from './tree-row.ts'

interface Candidate {
  readonly branch: RowNode
  readonly parent: RowNode
  readonly depth: number
}

/**
 * Collapses branches into summary lines until `maxLines` lines remain: first ended ones, the outermost and oldest first, then
 * waiting ones, then running ones, the last first. If that is not enough, the caller has to cut.
 */
export function collapseRows(root: RowNode, maxLines: number): RowNode {
  let excess = heightOf(root) - maxLines
  if (excess <= 0) return root
  const hidden = new Set<RowNode>()
  const summarised = { over: new Set<RowNode>(), open: new Set<RowNode>() }
  for (const { branch, parent } of candidates(root)) {
    if (excess <= 0) break
    hidden.add(branch)
    if (hidden.has(parent)) continue
    const summaries = summarised[branch.state === 'ended' ? 'over' : 'open']
    // The first hidden branch is replaced by the summary line.
    excess -= heightOf(branch) - (summaries.has(parent) ? 0 : 1)
    summaries.add(parent)
  }
  return without(root, hidden)
}

function candidates(root: RowNode): readonly Candidate[] {
  const found: Candidate[] = []
  const visit = (parent: RowNode, depth: number): void => {
    for (const branch of parent.children) {
      // What still runs is folded by itself only: below it is the very thing that people watch.
      if (branch.state === 'ended' || branch.children.length === 0) found.push({ branch, parent, depth })
      visit(branch, depth + 1)
    }
  }
  visit(root, 0)
  const those = (state: RowNode['state']): readonly Candidate[] => found.filter(({ branch }) => branch.state === state)
  return [
    ...those('ended').toSorted((a, b) => a.depth - b.depth || a.branch.endedAt - b.branch.endedAt),
    ...those('waiting').toReversed(),
    ...those('running').toReversed(),
  ]
}

function without(branch: RowNode, hidden: ReadonlySet<RowNode>): RowNode {
  const gone = branch.children.filter((child) => hidden.has(child))
  const kept = branch.children.filter((child) => !hidden.has(child)).map((child) => without(child, hidden))
  const over = gone.filter(({ state }) => state === 'ended')
  const rest = gone.filter(({ state }) => state !== 'ended')
  return { ...branch, children: [...summaryOf(over), ...kept, ...summaryOf(rest)] }
}

function summaryOf(branches: readonly RowNode[]): readonly RowNode[] {
  const [first] = branches
  if (!first) return []
  const tally = sumOf(branches.map((branch) => branch.tally))
  const { usage } = tally.spent
  const row: Row = {
    kind: 'note',
    icon: '⋯',
    label: '',
    note: (first.state === 'ended' ? endedTexts(branches, tally) : openTexts(branches)).filter(Boolean).join(' · '),
    ...(usage.input + usage.output > 0 && { tokens: tokens(usage) }),
  }
  return [{ row, children: [], state: 'ended', endedAt: 0, tally }]
}

function endedTexts(branches: readonly RowNode[], { steps, calls, failed, outside }: RowTotals): readonly string[] {
  const some = (n: number, noun: string): string => (n > 0 ? plural(n, noun) : '')
  const kinds = (kind: Row['kind']): number => branches.filter(({ row }) => row.kind === kind).length
  const children = kinds('child')
  return [
    children > 0 ? plural(children, 'child', 'children') : '',
    some(steps, 'step'),
    // Children are calls, too.
    some(calls - children, 'call'),
    failed > 0 ? `${failed} failed` : '',
    outside > 0 ? `${outside} outside the sandbox` : '',
    some(kinds('attempt'), 'failed attempt'),
    some(kinds('note'), 'note'),
  ]
}

function openTexts(branches: readonly RowNode[]): readonly string[] {
  return (['running', 'waiting'] as const).map((wanted) => {
    const count = branches.filter(({ state }) => state === wanted).length
    return count > 0 ? `${count} ${wanted}` : ''
  })
}
