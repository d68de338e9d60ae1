import type { ApprovalRequest, JsonObject } from '../../contracts/index.ts'

/** What a person should notice before an approval. It is a hint: the arguments say what is approved. */
interface Risk {
  readonly kind: 'danger' | 'caution' | 'place'
  readonly text: string
}

type RiskyRequest = Pick<ApprovalRequest, 'tool' | 'input' | 'diff' | 'scope'>

const deletes = /(?:^|[\s;&|(`])(?:rm|rmdir|unlink|shred|truncate|dd|mkfs\S*)\s|\bgit\s+(?:clean|reset\s+--hard|checkout\s+--)|\s-delete\b/
const connects =
  /(?:^|[\s;&|(`])(?:curl|wget|ssh|scp|sftp|rsync|nc|telnet|ftp)\s|\bgit\s+(?:push|pull|fetch|clone)\b|\b(?:npm|pnpm|yarn|bun|pip3?|cargo|gem|go|brew|apt(?:-get)?)\s+(?:i|ci|install|add|get|publish|update|upgrade)\b|https?:\/\//

/** Characters of a command that are checked. A person reads less. */
const maxRead = 50_000

export function requestRisks({ tool, input, diff, scope }: RiskyRequest): readonly Risk[] {
  const command = (commandOf(input) ?? '').slice(0, maxRead)
  const risks: Risk[] = []
  if (scope === 'unsandboxed') risks.push({ kind: 'danger', text: 'Outside the sandbox' })
  if (deletesFiles(diff) || /(?:^|_)(?:delete|remove)(?:_|$)/.test(tool)) risks.push({ kind: 'danger', text: 'Deletes files' })
  else if (deletes.test(command)) risks.push({ kind: 'danger', text: 'May delete files' })
  if (isAddress(input.url) || isAddress(input.uri)) risks.push({ kind: 'caution', text: `Network: ${hostOf(input)}` })
  else if (connects.test(command)) risks.push({ kind: 'caution', text: 'May use the network' })
  const folder = folderOf(input)
  if (folder !== undefined) risks.push({ kind: 'place', text: folder })
  return risks
}

/** The command of a call that runs one. */
export const commandOf = ({ command }: JsonObject): string | undefined =>
  typeof command === 'string' && command !== '' ? command : undefined

const deletesFiles = (diff = ''): boolean => /^(?:deleted file mode|\+\+\+ \/dev\/null)/m.test(diff)
const isAddress = (value: unknown): boolean => typeof value === 'string' && /^https?:/i.test(value)
const hostOf = ({ url, uri }: JsonObject): string => URL.parse(String(url ?? uri))?.host ?? 'an unknown server'

/** Where a command runs, or where a file is. */
function folderOf(input: JsonObject): string | undefined {
  if (commandOf(input) !== undefined)
    return typeof input.cwd === 'string' && input.cwd !== '.' && input.cwd !== '' ? `In ${input.cwd}` : 'In the project folder'
  const { path } = input
  if (typeof path !== 'string' || !path.includes('/')) return undefined
  return `In ${path.slice(0, path.lastIndexOf('/')) || '/'}`
}

/** Arguments that a command or a diff shows already. Others must not be folded. */
const shownByCommand: readonly string[] = ['command', 'cwd', 'reason', 'timeout']
const shownByDiff: readonly string[] = [
  'path',
  'content',
  'old',
  'new',
  'old_text',
  'new_text',
  'old_string',
  'new_string',
  'edits',
  'patch',
  'replace_all',
  'all',
  'reason',
]

/** Whether the arguments say no more than the command or the diff above them. */
export function isFullyShown({ input, diff }: Pick<ApprovalRequest, 'input' | 'diff'>): boolean {
  const shown = diff !== undefined ? shownByDiff : commandOf(input) === undefined ? [] : shownByCommand
  return shown.length > 0 && Object.keys(input).every((name) => shown.includes(name))
}
