import type { UsageGroup, UsageGrouping, UsageReport, UsageTotals } from '../../../contracts/index.ts'
import { duration, price, tokens, unnamedGroups, withEmptyDays } from '../../../view/index.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'

// The table and plot of `troupe usage`. Pure.

interface UsageStyle {
  readonly paint: Paint
  /** The width of a terminal. A pipe gets the table only. */
  readonly columns: number | undefined
}

const gap = '  '
const bar = { min: 8, max: 40 }
const minName = 10
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

interface Column {
  readonly title: string
  text(totals: UsageTotals): string
}

const costs: Column = { title: 'cost', text: ({ costUsd, unpriced }) => price(costUsd) || (unpriced > 0 ? 'unknown' : '–') }
const tokensUsed: Column = { title: 'tokens', text: ({ usage }) => tokens(usage) }
const turnCount: Column = {
  title: 'turns',
  text: ({ turns, failedTurns }) => (failedTurns > 0 ? `${failedTurns} of ${turns} failed` : String(turns)),
}
const latency: Column = { title: 'p95', text: ({ turns, p95Ms }) => (turns > 0 ? duration(p95Ms) : '–') }

export function usageLines(report: UsageReport, { paint, columns }: UsageStyle): readonly string[] {
  const { by, total } = report
  const groups = by === 'day' ? withEmptyDays(report.groups) : report.groups
  const isPriced = total.costUsd > 0
  const amountOf = ({ costUsd, usage }: UsageTotals): number => (isPriced ? costUsd : usage.input + usage.output)
  const most = Math.max(...groups.map(amountOf))
  const rows = [...groups.map((group) => ({ name: nameOf(group, by), of: group })), { name: 'total', of: total }]
  const all = [...(isPriced ? [costs] : []), tokensUsed, turnCount, latency].map((column) => {
    const texts = rows.map(({ of }) => column.text(of))
    return { title: column.title, texts, width: Math.max(column.title.length, ...texts.map(widthOf)) }
  })
  const names = Math.max(by.length, ...rows.map(({ name }) => widthOf(name)))
  // Some terminals wrap a line that fills the last column.
  const room = columns === undefined ? Number.POSITIVE_INFINITY : columns - 1
  const shown = within(all, room - Math.min(names, Math.max(minName, Math.floor(room / 2))) - gap.length - bar.min)
  const left = room - shown.reduce((sum, { width }) => sum + gap.length + width, 0)
  // Names get the room that figures and the shortest bar leave.
  const nameWidth = Math.min(names, Math.max(minName, left - gap.length - bar.min))
  const barWidth = columns === undefined ? 0 : Math.min(bar.max, left - nameWidth - gap.length)
  const line = (name: string, texts: readonly string[]): string =>
    `${fitWidth(name, nameWidth)}${shown.map(({ width }, i) => `${gap}${(texts[i] ?? '').padStart(width)}`).join('')}`
  return [
    paint(
      'dim',
      line(
        by,
        shown.map(({ title }) => title),
      ),
    ),
    ...rows.map(({ name, of }, row) => {
      const text = line(
        name,
        shown.map(({ texts }) => texts[row] ?? ''),
      )
      if (of === total) return paint('bold', text)
      return `${text}${gap}${paint('cyan', barOf(amountOf(of) / most, barWidth))}`.trimEnd()
    }),
  ]
}

/** The first column always is. */
function within<Shown extends { readonly width: number }>(all: readonly Shown[], room: number): readonly Shown[] {
  let used = 0
  return all.filter(({ width }, i) => {
    used += gap.length + width
    return i === 0 || used <= room
  })
}

function barOf(share: number, width: number): string {
  const steps = share > 0 && width > 0 ? Math.max(1, Math.round(share * width * eighths.length)) : 0
  return `${'█'.repeat(Math.floor(steps / eighths.length))}${eighths[steps % eighths.length]}`
}

const nameOf = ({ key }: UsageGroup, by: UsageGrouping): string => printable(key) || unnamedGroups[by]
