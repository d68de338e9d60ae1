import { mustShowInFull, type Setup, trustEffect, trustFiles, type UntrustedFile } from '../../../project/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { exactLines } from '../../terminal/exact-text.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { discardTyped, nextLine } from '../../terminal/read-line.ts'
import { hookFileLines } from './hook-file-lines.ts'

interface Part {
  readonly name: string
  readonly contents: readonly string[]
  readonly mustShowInFull: boolean
}

/** The parts that must be shown in full come first. */
function sortedParts({ withheld, contents = [] }: UntrustedFile): readonly Part[] {
  const parts = withheld.map((name, index) => ({ name, contents: contents[index] ?? [], mustShowInFull: mustShowInFull(name) }))
  return parts.toSorted((a, b) => Number(b.mustShowInFull) - Number(a.mustShowInFull))
}

/** The withheld parts, each with what trust would allow. */
export function partsOf(file: UntrustedFile): readonly string[] {
  const names = sortedParts(file).map(({ name }) => powerText(name))
  return [...names.slice(0, maxShown), ...moreOf(names.length - maxShown)]
}

/**
 * The same with the exact content of the parts, for the trust question. Parts that must be shown in full come first and
 * are never cut. If anything else is cut, the last line names the file to read.
 */
export function partLines(
  file: UntrustedFile,
  { paint, width }: Pick<Host, 'paint' | 'width'>,
  further: readonly string[] = [],
): readonly string[] {
  const parts = sortedParts(file)
  const deciding = parts.filter((part) => part.mustShowInFull)
  const others = parts.filter((part) => !part.mustShowInFull)
  const shown = [...deciding, ...others.slice(0, maxShown)]
  const lines = shown.flatMap(({ name, contents, mustShowInFull }) => {
    const shownContents = mustShowInFull ? contents : [...contents.slice(0, maxShown).map(cut), ...moreOf(contents.length - maxShown)]
    const rows = shownContents.flatMap((text) => exactLines(withBlanksCounted(text), width - 1 - below.length))
    return [powerText(name), ...rows.map((line) => `${paint('dim', bar)}${line}`)]
  })
  const all = [...[...lines, ...moreOf(others.length - maxShown)].map((line) => `  ${line}`), ...further]
  const isCut = others.some(({ contents }) => contents.length > maxShown || contents.some(isLong))
  const isWhole = !file.isPartial && others.length <= maxShown && !isCut
  return [...all, ...(isWhole && all.length <= maxLines ? [] : [toRead(file.path, isWhole ? `It has ${all.length} lines` : undefined)])]
}

const bar = '│ '
const below = `  ${bar}`
const maxShown = 20
const maxCharacters = 1_000
/** Fits on any terminal. */
const maxLines = 20

const powerText = (part: string): string => {
  const power = trustEffect(part)
  return printable(power === undefined ? part : `${part} – ${power}`)
}
const toRead = (path: string, why = 'Only a part is shown'): string => `${why}: read ${printable(path)} before you approve it.`
const moreOf = (left: number): readonly string[] => (left > 0 ? [`and ${left} more`] : [])
const isLong = (text: string): boolean => text.length > maxCharacters

/** Keeps beginning and end. */
function cut(text: string): string {
  const half = maxCharacters / 2
  return isLong(text) ? `${text.slice(0, half)} … ${text.length - maxCharacters} characters … ${text.slice(-half)}` : text
}

/** Long blanks could push content out of sight. */
const withBlanksCounted = (text: string): string => text.replace(/[\s\u2800]{9,}/g, (blanks) => `<${blanks.length} blanks>`)

/** `--trust` trusts all files; otherwise a terminal asks for each. Without a terminal, a diagnostic reports them. */
export async function askForTrust(
  waiting: readonly UntrustedFile[],
  { trustPlace }: Setup,
  trust: TrustOptions,
): Promise<'given' | 'not given'> {
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
    // Stored before the next question, which the user may interrupt.
    await trustFiles(trustPlace, [file], { by: 'person', at })
    given = 'given'
  }
  return given
}

interface TrustOptions {
  readonly host: Host
  /** Whether `--trust` was given. */
  readonly isGiven: boolean
}

async function isTrusted(file: UntrustedFile, { stderr, stdin, paint, width }: Host): Promise<boolean> {
  await stderr.prose([
    `${paint('bold', printable(file.path))} is not trusted in its current form. These parts are ignored until you trust it:`,
    ...partLines(file, { paint, width }, await hookFileLines(file, { paint, width })),
  ])
  return askYesNo('Trust it? [y/N] ', { stderr, stdin })
}

/** Whether a user at a terminal can be asked. */
export const mayAsk = ({ stdin, window, isSeen = window === 'terminal' }: Pick<Host, 'stdin' | 'window' | 'isSeen'>): boolean =>
  stdin.isTTY === true && isSeen

/** Asks at the terminal. Anything but yes is no. Discards input that was typed before the question. */
export async function askYesNo(question: string, { stderr, stdin }: Pick<Host, 'stderr' | 'stdin'>): Promise<boolean> {
  await discardTyped(stdin, systemClock)
  await stderr.write(question)
  const answer = await nextLine(stdin)
  return answer.kind === 'line' && /^\s*y(?:es)?\s*$/i.test(answer.text)
}
