import { type FileState, type PendingFile, powerOf, type Registry, trustFiles } from '../agents/index.ts'
import { systemClock } from '../runtime/index.ts'
import type { Setup } from './config-setup.ts'
import { exactLines } from './exact-text.ts'
import type { Host } from './host.ts'
import { forgetTyped, nextLine } from './next-line.ts'
import { printable } from './paint.ts'

/** A file that waits for trust, and what of it does not count until then. */
export interface Waiting extends FileState {
  readonly kind: PendingFile['kind'] | 'agent of another program'
  readonly withheld: readonly string[]
  /** What each of these parts says, where that is known. */
  readonly contents?: readonly (readonly string[])[]
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

/** The parts that wait, each with what it could do then. */
export function partsOf({ withheld }: Waiting): readonly string[] {
  return [...withheld.slice(0, mostShown).map(powerText), ...moreOf(withheld.length - mostShown)]
}

/** The same for whoever has to decide, with what stands in them: to the letter, however it is written. */
export function partLines({ withheld, contents = [] }: Waiting, { paint, width }: Pick<Host, 'paint' | 'width'>): readonly string[] {
  const parts = withheld.slice(0, mostShown).flatMap((part, index) => {
    const said = contents[index] ?? []
    const shown = said.slice(0, mostContents).flatMap((text) => exactLines(cut(text), width - 1 - below.length))
    return [powerText(part), ...[...shown, ...moreOf(said.length - mostContents)].map((line) => `${paint('dim', bar)}${line}`)]
  })
  return [...parts, ...moreOf(withheld.length - mostShown)].map((line) => `  ${line}`)
}

const bar = '│ '
const below = `  ${bar}`
const mostContents = 20
const mostCharacters = 1_000

const powerText = (part: string): string => {
  const power = powerOf(part)
  return printable(power === undefined ? part : `${part}: ${power}`)
}
const moreOf = (left: number): readonly string[] => (left > 0 ? [`and ${left} more`] : [])
const cut = (text: string): string =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters)}… and ${text.length - mostCharacters} characters more` : text

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
  const trusted: Waiting[] = []
  for (const file of waiting) if (await isTrusted(file, host)) trusted.push(file)
  if (trusted.length === 0) return 'not given'
  await trustFiles(trustPlace, trusted, { by: 'person', at })
  return 'given'
}

export interface Trusting {
  readonly host: Host
  /** Whether `--trust` stands on the command line. */
  readonly isGiven: boolean
}

async function isTrusted(file: Waiting, { stderr, stdin, paint, width }: Host): Promise<boolean> {
  await stderr.prose([
    `${paint('bold', printable(file.path))} is not trusted as it is now. These parts do not count without trust:`,
    ...partLines(file, { paint, width }),
  ])
  return isAgreed('Trust it? [y/N] ', { stderr, stdin })
}

/** Whether there is a person to be asked. */
export const mayAsk = ({ stdin, window, isSeen = window === 'terminal' }: Pick<Host, 'stdin' | 'window' | 'isSeen'>): boolean =>
  stdin.isTTY === true && isSeen

/** Asks a person at a terminal; anything but yes is no, and what was typed before the question is no answer to it. */
export async function isAgreed(question: string, { stderr, stdin }: Pick<Host, 'stderr' | 'stdin'>): Promise<boolean> {
  await forgetTyped(stdin, systemClock)
  await stderr.write(question)
  const answer = await nextLine(stdin)
  return answer.kind === 'line' && /^\s*y(?:es)?\s*$/i.test(answer.text)
}

const mostShown = 20
