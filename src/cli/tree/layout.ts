import { fitWidth, type Paint, printable, widthOf } from '../paint.ts'
import type { Branch, Detail, Row } from './branch.ts'
import { lastLines } from './last-lines.ts'
import type { Span } from './run-tree.ts'

interface LayoutStyle {
  readonly paint: Paint
  /** Columns that a line may take. */
  readonly width: number
  /** With it, bars show when each row ran. */
  readonly whole?: Span
}

/** A branch and all below it as lines, none wider than the style says. */
export function linesOf(branch: Branch, style: LayoutStyle): readonly string[] {
  return placed(branch, { stem: '', rest: '' }).flatMap((place) => layOut(place, style))
}

/** Glyphs that hang a row into the tree, and those before all that is below it. */
interface Stems {
  readonly stem: string
  readonly rest: string
}
interface Place extends Stems {
  readonly row: Row
  readonly hasChildren: boolean
}

function placed({ row, children }: Branch, stems: Stems): readonly Place[] {
  const below = children.flatMap((child, i) => {
    const isLast = i === children.length - 1
    return placed(child, { stem: `${stems.rest}${isLast ? '└─ ' : '├─ '}`, rest: `${stems.rest}${isLast ? '   ' : '│  '}` })
  })
  return [{ row, ...stems, hasChildren: children.length > 0 }, ...below]
}

const markWidth = 2
const timeWidth = 9
const tokensWidth = 14
const barWidth = 18
/** Labels come first: below these widths the figures have to go. */
const leastFor = { time: 28, tokens: 52 } as const

function layOut(place: Place, style: LayoutStyle): readonly string[] {
  return [headLine(place, style), ...(place.row.details ?? []).flatMap((detail) => detailLines(detail, place, style))]
}

function headLine({ row, stem }: Place, { paint, width, whole }: LayoutStyle): string {
  const figures = figuresOf(row, { paint, width, ...(whole && { whole }) })
  const icon = row.icon === undefined ? '' : `${row.icon} `
  const before = fitWidth(`${stem}${icon}`, Math.min(widthOf(`${stem}${icon}`), width))
  const room = Math.max(0, width - figures.width - widthOf(before))
  const fitted = fitWidth([row.label, row.note].filter(Boolean).join('  '), room)
  const text = figures.text === '' ? fitted.trimEnd() : fitted
  const label = text.slice(0, row.label.length)
  const shaded = (shade: Row['shade'] | 'green', part: string): string => (shade ? paint(shade, part) : part)
  return [
    paint('dim', before.slice(0, stem.length)),
    shaded(row.iconShade ?? row.shade, before.slice(stem.length)),
    shaded(row.shade, label),
    paint('dim', text.slice(label.length)),
    figures.text,
  ].join('')
}

/** What stands at the right: tokens, time, bar. A row without tokens, or without any of them, has more room for words. */
function figuresOf(row: Row, { paint, width, whole }: LayoutStyle): { readonly text: string; readonly width: number } {
  const tokens = row.tokens !== undefined && width >= leastFor.tokens ? row.tokens.padStart(tokensWidth) : ''
  const hasBar = whole !== undefined && row.span !== undefined
  if (width < leastFor.time || !(tokens || row.time || row.mark || hasBar)) return { text: '', width: 0 }
  const time = ` ${row.mark ? paint('cyan', row.mark) : ' '}${(row.time ?? '').padStart(timeWidth)}`
  const bar = hasBar ? `  ${paint('dim', '▏')}${barOf(row, row.span, { whole, paint })}${paint('dim', '▕')}` : ''
  return { text: `${tokens}${time}${bar}`.trimEnd(), width: tokens.length + markWidth + timeWidth + (whole ? barWidth + 4 : 0) }
}

function detailLines(detail: Detail, { row, rest, hasChildren }: Place, { paint, width }: LayoutStyle): readonly string[] {
  const indent = `${rest}${hasChildren ? '│  ' : row.icon === undefined ? '   ' : '  '}`
  const room = width - widthOf(indent)
  if (room < 4) return []
  const line = (text: string, shade: 'red' | 'dim'): string =>
    `${paint('dim', indent)}${paint(shade, fitWidth(text, Math.min(room, widthOf(text))))}`
  if (!('said' in detail)) return [line(detail.text, detail.shade)]
  const opening = detail.said === 'reasoning' ? 'thinking … ' : ''
  const lines = lastLines(printable(detail.text), {
    width: Math.max(1, room - opening.length),
    most: detail.said === 'reasoning' ? 1 : saidLines,
  })
  return (lines.length === 0 && opening !== '' ? [''] : lines).map((text) => line(`${opening}${text}`.trimEnd(), 'dim'))
}

/** As many lines of a text that is still coming are shown. */
const saidLines = 2

/** How many lines a branch takes, at the most. */
export function heightOf({ row, children }: Branch): number {
  const details = (row.details ?? []).reduce((sum, detail) => sum + ('said' in detail && detail.said === 'text' ? saidLines : 1), 0)
  return children.reduce((sum, child) => sum + heightOf(child), 1 + details)
}

/** When it ran, against the whole turn. */
function barOf({ kind, shade }: Row, span: Span, { whole, paint }: { readonly whole: Span; readonly paint: Paint }): string {
  const scale = barWidth / Math.max(1, whole.to - whole.from)
  const from = Math.min(barWidth - 1, Math.max(0, Math.floor((span.from - whole.from) * scale)))
  const to = Math.min(barWidth, Math.max(from + 1, Math.round((span.to - whole.from) * scale)))
  const isShort = kind === 'call' || kind === 'attempt' || kind === 'child'
  const bar = (kind === 'agent' ? '─' : kind === 'child' ? '━' : isShort ? '█' : '▒').repeat(to - from)
  return ' '.repeat(from) + paint(shade === 'red' ? 'red' : isShort ? 'cyan' : 'dim', bar) + ' '.repeat(barWidth - to)
}
