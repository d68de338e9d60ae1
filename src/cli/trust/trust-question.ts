import { type FileState, mustShowInFull, type PendingFile, type Registry, trustEffect, trustFiles } from '../../agents/index.ts'
import { systemClock } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import type { Setup } from '../team/load-config.ts'
import { exactLines } from '../terminal/exact-text.ts'
import { printable } from '../terminal/paint.ts'
import { discardTyped, nextLine } from '../terminal/read-line.ts'
import { hookFileLines } from './hook-file-lines.ts'

/** A file that waits for trust, and what of it does not count until then. */
export interface Waiting extends FileState {
  readonly kind: PendingFile['kind'] | 'agent of another program'
  readonly withheld: readonly string[]
  /** What each of these parts says, where that is known. */
  readonly contents?: readonly (readonly string[])[]
  /** More waits than is named. */
  readonly isPartial?: true
}

/** Whatever counts only in part for want of trust. */
export function waitingIn({ config }: Setup, { untrusted }: Registry): readonly Waiting[] {
  return [
    ...config.pending,
    ...untrusted.map(
      (file): Waiting => ({ ...file, kind: 'agent of another program', withheld: ['tools that change something', 'servers'] }),
    ),
  ]
}

interface Part {
  readonly name: string
  readonly contents: readonly string[]
  /** Whether all of it must be seen. */
  readonly mustShowInFull: boolean
}

/** Those first without which nobody can decide. */
function partsIn({ withheld, contents = [] }: Waiting): readonly Part[] {
  const parts = withheld.map((name, index) => ({ name, contents: contents[index] ?? [], mustShowInFull: mustShowInFull(name) }))
  return parts.toSorted((a, b) => Number(b.mustShowInFull) - Number(a.mustShowInFull))
}

/** The parts that wait, each with what it could do then. */
export function partsOf(file: Waiting): readonly string[] {
  const names = partsIn(file).map(({ name }) => powerText(name))
  return [...names.slice(0, mostShown), ...moreOf(names.length - mostShown)]
}

/**
 * The same for whoever has to decide, with what stands in them: to the letter, however it is written. What decides comes
 * first, and is never cut; where anything else is left out, that is said with the file to read.
 */
export function partLines(
  file: Waiting,
  { paint, width }: Pick<Host, 'paint' | 'width'>,
  further: readonly string[] = [],
): readonly string[] {
  const parts = partsIn(file)
  const deciding = parts.filter((part) => part.mustShowInFull)
  const others = parts.filter((part) => !part.mustShowInFull)
  const shown = [...deciding, ...others.slice(0, mostShown)]
  const lines = shown.flatMap(({ name, contents, mustShowInFull }) => {
    const said = mustShowInFull ? contents : [...contents.slice(0, mostShown).map(cut), ...moreOf(contents.length - mostShown)]
    const rows = said.flatMap((text) => exactLines(withBlanksCounted(text), width - 1 - below.length))
    return [powerText(name), ...rows.map((line) => `${paint('dim', bar)}${line}`)]
  })
  const all = [...[...lines, ...moreOf(others.length - mostShown)].map((line) => `  ${line}`), ...further]
  const isCut = others.some(({ contents }) => contents.length > mostShown || contents.some(isLong))
  const isWhole = !file.isPartial && others.length <= mostShown && !isCut
  return [...all, ...(isWhole && all.length <= mostLines ? [] : [toRead(file.path, isWhole ? `It has ${all.length} lines` : undefined)])]
}

const bar = '│ '
const below = `  ${bar}`
const mostShown = 20
const mostCharacters = 1_000
/** What is surely seen at once. */
const mostLines = 20

const powerText = (part: string): string => {
  const power = trustEffect(part)
  return printable(power === undefined ? part : `${part}: ${power}`)
}
const toRead = (path: string, why = 'Only a part is shown'): string => `${why}: read ${printable(path)} before you approve it.`
const moreOf = (left: number): readonly string[] => (left > 0 ? [`and ${left} more`] : [])
const isLong = (text: string): boolean => text.length > mostCharacters

/** The end of a text tells as much as its beginning. */
function cut(text: string): string {
  const half = mostCharacters / 2
  return isLong(text) ? `${text.slice(0, half)} … ${text.length - mostCharacters} characters … ${text.slice(-half)}` : text
}

/** Nothing is pushed out of sight by what cannot be seen. */
const withBlanksCounted = (text: string): string => text.replace(/[\s\u2800]{9,}/g, (blanks) => `<${blanks.length} blanks>`)

/** `--trust` gives it; a person at a terminal is asked; anybody else is told by a diagnostic. */
export async function askForTrust(waiting: readonly Waiting[], { trustPlace }: Setup, trust: Trusting): Promise<'given' | 'not given'> {
  if (waiting.length === 0) return 'not given'
  const { host, isGiven } = trust
  const at = host.now()
  if (isGiven) {
    await trustFiles(trustPlace, waiting, { by: 'command', at })
    return 'given'
  }
  if (!mayAsk(host)) return 'not given'
  let given: 'given' | 'not given' = 'not given'
  for (const file of waiting) {
    if (!(await isTrusted(file, host))) continue
    // At once: whoever leaves at the next question has answered this one.
    await trustFiles(trustPlace, [file], { by: 'person', at })
    given = 'given'
  }
  return given
}

export interface Trusting {
  readonly host: Host
  /** Whether `--trust` stands on the command line. */
  readonly isGiven: boolean
}

async function isTrusted(file: Waiting, { stderr, stdin, paint, width }: Host): Promise<boolean> {
  await stderr.prose([
    `${paint('bold', printable(file.path))} is not trusted in its current form. These parts are ignored until you trust it:`,
    ...partLines(file, { paint, width }, await hookFileLines(file, { paint, width })),
  ])
  return isAgreed('Trust it? [y/N] ', { stderr, stdin })
}

/** Whether there is a person to be asked. */
export const mayAsk = ({ stdin, window, isSeen = window === 'terminal' }: Pick<Host, 'stdin' | 'window' | 'isSeen'>): boolean =>
  stdin.isTTY === true && isSeen

/** Asks a person at a terminal; anything but yes is no, and what was typed before the question is no answer to it. */
export async function isAgreed(question: string, { stderr, stdin }: Pick<Host, 'stderr' | 'stdin'>): Promise<boolean> {
  await discardTyped(stdin, systemClock)
  await stderr.write(question)
  const answer = await nextLine(stdin)
  return answer.kind === 'line' && /^\s*y(?:es)?\s*$/i.test(answer.text)
}
