import type { OutputPart } from '../../../contracts/index.ts'
import { type CallPermit, decidedText, type FileChange, size } from '../../../view/index.ts'
import { printable } from '../../terminal/printable.ts'

// Short texts about a call: changed files, approvals, the sandbox.

/** The call completed, but its command failed. */
export const isFailedExit = (exitCode: number | undefined): exitCode is number => exitCode !== undefined && exitCode !== 0

/** `src/a.ts +3 -1`, `old.ts → new.ts`, `gone.ts deleted`. */
export function changeText(change: FileChange): string {
  const { path, to, kind } = change
  const gone = kind === 'delete' ? 'deleted' : ''
  return [printable(to === undefined ? path : `${path} → ${to}`), gone, lineCounts(change)].filter(Boolean).join(' ')
}

/** `+3 -1`. */
export const lineCounts = ({ added, removed }: Pick<FileChange, 'added' | 'removed'>): string =>
  [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : ''].filter(Boolean).join(' ')

/** `image/png 34.2 KB`, `report.pdf application/pdf 1.2 MB`, a link. Texts are not listed. */
export function partTexts(parts: readonly OutputPart[] = []): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type === 'text') return []
    const about = part.type === 'link' ? part.uri : `${part.mediaType} ${size(part.bytes)}`
    return [printable(part.name === undefined ? about : `${part.name} ${about}`)]
  })
}

/** `approved at the terminal`, `granted for the project`, `allowed: write_file (the command line)`. */
export function permitText(permit: CallPermit): string {
  if (permit.kind === 'answered') return `answered: ${printable(permit.text)}`
  return printable(decidedText('approved', permit.by))
}

/** Decided by a rule or an earlier grant, not by a person. */
export const isAutomatic = (by: string): boolean => /^(?:granted|allow) /.test(by)

/** `ran outside the sandbox, approved at the terminal`. */
export function unsandboxedText(by: string, tense: 'runs' | 'ran'): string {
  return [`${tense} outside the sandbox`, ...(by === '' ? [] : [printable(decidedText('approved', by))])].join(', ')
}
