import type { Span } from '../../../view/index.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'
import { wrapWords } from '../../terminal/wrap-line.ts'
import { type Detail, type Row, type RowNode, type Stemmed, withStems } from './tree-row.ts'

type Place = Stemmed<RowNode>

interface LayoutStyle {
  readonly paint: Paint
  /** Columns that a line may take. */
  readonly width: number
  /** If set, bars show when each row ran. */
  readonly whole?: Span
}

/** Lines of a branch, none wider than the style allows. */
export function linesOf(branch: RowNode, style: LayoutStyle): readonly string[] {
  return withStems(branch).flatMap((place) => layOut(place, style))
}

const markWidth = 2
const timeWidth = 9
const tokensWidth = 14
const barWidth = 18
/** In narrower terminals these figures are omitted. */
const minWidthFor = { time: 28, tokens: 52 } as const

function layOut(place: Place, style: LayoutStyle): readonly string[] {
  return [headLine(place, style), ...(place.node.row.details ?? []).flatMap((detail) => detailLines(detail, place, style))]
}

function headLine({ node: { row }, stem }: Place, { paint, width, whole }: LayoutStyle): string {
  const icon = row.icon === undefined ? '' : `${row.icon} `
  const before = fitWidth(`${stem}${icon}`, Math.min(widthOf(`${stem}${icon}`), width))
  const { figures, room } = figuresBeside(row, { left: width - widthOf(before), style: { paint, width, ...(whole && { whole }) } })
  const { label, about, note } = fitWords(row, room)
  const filled = widthOf(label) + widthOf(about) + widthOf(note)
  const shaded = (shade: Row['shade'] | Row['iconShade'], part: string): string => (shade ? paint(shade, part) : part)
  return [
    paint('dim', before.slice(0, stem.length)),
    shaded(row.iconShade ?? row.shade, before.slice(stem.length)),
    shaded(row.shade, about === '' && note === '' && figures.text === '' ? label.trimEnd() : label),
    about,
    paint('dim', note),
    figures.text === '' ? '' : `${' '.repeat(Math.max(0, room - filled))}${figures.text}`,
  ].join('')
}

/** The figures of a row, and the room for its words. Tokens, and then the time, are omitted if they leave no room for the shortest note. */
function figuresBeside(row: Row, { left, style }: { readonly left: number; readonly style: LayoutStyle }) {
  const { tokens: _, ...untold } = row
  const { time: __, mark: ___, ...untimed } = untold
  const shortest = row.shorterNotes?.at(-1)
  const needed = shortest === undefined ? 0 : Math.min(minNameWidth, widthOf(row.label.trimEnd())) + gap.length + widthOf(shortest)
  const choices = [row, untold, untimed].map((each) => {
    const figures = figuresOf(each, style)
    return { figures, room: Math.max(0, left - figures.width) }
  })
  return (choices.find(({ room }) => room >= needed) ?? choices.at(-1)) as (typeof choices)[number]
}

const gap = '  '
const between = ' · '
/** A longer name may be cut for the shortest note. */
const minNameWidth = 12
const minAboutWidth = 5
const minNoteWidth = 5
/** Minimum share of the room for the subject if subject and note are long. */
const aboutShare = 0.6

/** Label, subject and notes with their separators, cut to fit. */
function fitWords(row: Row, room: number): Words {
  if (row.shorterNotes) return fitNotes(row, row.shorterNotes, room)
  const { label, about = '', note = '' } = row
  const name = fitted(label, room)
  const left = room - widthOf(name) - gap.length
  if (left <= 0 || (about === '' && note === '')) return { label: name, about: '', note: '' }
  if (about === '') return { label: name, about: '', note: fitted(`${label === '' ? '' : gap}${note}`, left + gap.length) }
  const needed = note === '' ? 0 : between.length + widthOf(note)
  const maxWidth = Math.max(left - needed, Math.ceil(left * aboutShare))
  const rest = left - Math.min(maxWidth, widthOf(about))
  if (note === '' || rest < between.length + Math.min(minNoteWidth, widthOf(note)))
    return { label: name, about: `${gap}${fitted(about, left)}`, note: '' }
  return { label: name, about: `${gap}${fitted(about, maxWidth)}`, note: fitted(`${between}${note}`, rest) }
}

type Words = { readonly [Part in 'label' | 'about' | 'note']: string }

const fitted = (text: string, maxWidth: number): string => fitWidth(text, Math.max(0, Math.min(maxWidth, widthOf(text))))

/** The longest note that leaves the subject its share; for the shortest, the subject and then the name give way. */
function fitNotes({ label, about = '', note = '' }: Row, shorter: readonly string[], room: number): Words {
  const shortest = shorter.at(-1) ?? ''
  const most = room - gap.length - widthOf(shortest)
  const name = widthOf(label) <= most ? label : fitted(label.trimEnd(), Math.max(most, Math.min(minNameWidth, room)))
  const left = room - widthOf(name) - gap.length
  if (left <= 0) return { label: name, about: '', note: '' }
  const share = about === '' ? 0 : between.length + Math.min(widthOf(about), Math.ceil(left * aboutShare))
  const shown = [note, ...shorter].find((each) => widthOf(each) <= left - share) ?? shortest
  const forAbout = left - widthOf(shown) - between.length
  if (about === '' || forAbout < Math.min(minAboutWidth, widthOf(about)))
    return { label: name, about: '', note: `${gap}${fitted(shown, left)}` }
  return { label: name, about: `${gap}${fitted(about, forAbout)}`, note: `${between}${shown}` }
}

/** Tokens, time and bar at the right. Rows without tokens have more room for text. */
function figuresOf(row: Row, { paint, width, whole }: LayoutStyle): { readonly text: string; readonly width: number } {
  const tokens = row.tokens !== undefined && width >= minWidthFor.tokens ? row.tokens.padStart(tokensWidth) : ''
  const hasBar = whole !== undefined && row.span !== undefined
  if (width < minWidthFor.time || !(tokens || row.time || row.mark || hasBar)) return { text: '', width: 0 }
  const time = ` ${row.mark ? paint('cyan', row.mark) : ' '}${(row.time ?? '').padStart(timeWidth)}`
  const bar = hasBar ? `  ${paint('dim', '▏')}${barOf(row, row.span, { whole, paint })}${paint('dim', '▕')}` : ''
  return { text: `${tokens}${time}${bar}`.trimEnd(), width: tokens.length + markWidth + timeWidth + (whole ? barWidth + 4 : 0) }
}

function detailLines(detail: Detail, { node: { row, children }, rest }: Place, { paint, width }: LayoutStyle): readonly string[] {
  const indent = `${rest}${children.length > 0 ? '│  ' : row.icon === undefined ? '   ' : '  '}`
  const room = width - widthOf(indent)
  if (room < 4) return []
  const line = (text: string, shade: 'red' | 'yellow' | 'dim'): string =>
    `${paint('dim', indent)}${paint(shade, fitWidth(text, Math.min(room, widthOf(text))))}`
  if (!('streamed' in detail)) return [line(detail.text, detail.shade)]
  const opening = detail.streamed === 'reasoning' ? 'thinking … ' : ''
  // Wrapped from the beginning, so that a full line does not change while more text arrives.
  const lines = wrapWords(printable(detail.text), Math.max(1, room - opening.length))
  const shown = lines.slice(detail.streamed === 'reasoning' ? -1 : -streamedLines)
  return shown.filter((text) => text !== '' || opening !== '').map((text) => line(`${opening}${text}`.trimEnd(), 'dim'))
}

/** Lines of streamed text. */
const streamedLines = 2

/** Maximum number of lines. */
export function heightOf({ row, children }: RowNode): number {
  const details = (row.details ?? []).reduce(
    (sum, detail) => sum + ('streamed' in detail && detail.streamed === 'text' ? streamedLines : 1),
    0,
  )
  return children.reduce((sum, child) => sum + heightOf(child), 1 + details)
}

/** The time of a row within the turn. */
function barOf({ kind, shade }: Row, span: Span, { whole, paint }: { readonly whole: Span; readonly paint: Paint }): string {
  const scale = barWidth / Math.max(1, whole.to - whole.from)
  const from = Math.min(barWidth - 1, Math.max(0, Math.floor((span.from - whole.from) * scale)))
  const to = Math.min(barWidth, Math.max(from + 1, Math.round((span.to - whole.from) * scale)))
  const isShort = kind === 'call' || kind === 'attempt' || kind === 'child'
  const bar = (kind === 'agent' ? '─' : kind === 'child' ? '━' : isShort ? '█' : '▒').repeat(to - from)
  return ' '.repeat(from) + paint(shade === 'red' ? 'red' : isShort ? 'cyan' : 'dim', bar) + ' '.repeat(barWidth - to)
}
