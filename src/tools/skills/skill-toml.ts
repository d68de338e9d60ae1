import { parse, TomlError } from 'smol-toml'
import type { SkillCard } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { messageOf } from '../../util/message-of.ts'
import { listNames } from '../../yaml/messages.ts'
import { readRegularFile } from '../project-context/project-files.ts'
import type { SkillProblem } from './skill-problem.ts'

export const skillSettingsFile = 'SKILL.toml'
const maxBytes = 32_768
const maxDepth = 8
const longest = { displayName: 100, promptHint: 500 } as const

type SkillDisplay = Pick<SkillCard, 'displayName' | 'promptHint'>

/** How a skill is displayed. Other programs use a table `[interface]`. */
const fields: { readonly [key: string]: keyof SkillDisplay } = {
  display_name: 'displayName',
  prompt_hint: 'promptHint',
  'interface.display_name': 'displayName',
  'interface.default_prompt': 'promptHint',
}

interface SkillTomlPlace {
  readonly path: string
  /** Absent: it can be anywhere. */
  readonly root: string | undefined
}

/** Reads a `SKILL.toml` if it exists. Its problems are only warnings. */
export function readSkillToml({ path, root }: SkillTomlPlace, tell: (problem: SkillProblem) => void): SkillDisplay {
  const warn = (place: string, message: string, remedy: string): void => tell({ severity: 'warning', place, message, remedy })
  const file = readRegularFile(path, { root, maxBytes: maxBytes })
  if (file.kind === 'missing') return {}
  if (file.kind !== 'read' || file.size > maxBytes) {
    const why = file.kind === 'read' ? `it has ${file.size} bytes; the maximum is ${maxBytes}` : whyUnread(file)
    warn(path, `${skillSettingsFile} is left out: ${why}`, 'Fix it, or remove it.')
    return {}
  }
  try {
    return displayOf(parse(new TextDecoder().decode(file.bytes), { maxDepth: maxDepth }), (message, remedy) => warn(path, message, remedy))
  } catch (error) {
    const place = error instanceof TomlError ? `${path}:${error.line}:${error.column}` : path
    const [first = ''] = messageOf(error).split('\n', 1)
    warn(place, `${skillSettingsFile} is not valid TOML:  ${first.replace(/^Invalid TOML document: /, '')}`, 'Fix it, or remove it.')
    return {}
  }
}

const whyUnread = (file: { readonly kind: 'outside' } | { readonly kind: 'withheld' | 'refused'; readonly why: string }): string =>
  file.kind === 'outside' ? 'it is a link to a file outside its folder' : file.why

function displayOf(table: { readonly [key: string]: unknown }, warn: (message: string, remedy: string) => void): SkillDisplay {
  const { interface: nested, ...plain } = table
  const isTable = isRecord(nested)
  const entries = [
    ...Object.entries(plain),
    ...(isTable ? Object.entries(nested).map(([key, value]) => [`interface.${key}`, value] as const) : []),
    ...(nested !== undefined && !isTable ? [['interface', nested] as const] : []),
  ]
  const face: { -readonly [Key in keyof SkillDisplay]: SkillDisplay[Key] } = {}
  for (const [key, value] of entries) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) warn(`\`${key}\` in ${skillSettingsFile} has no effect`, `There are ${listNames(Object.keys(fields))}.`)
    else if (typeof value !== 'string' || value.trim() === '' || value.length > longest[field])
      warn(`\`${key}\` in ${skillSettingsFile} must be text of at most ${longest[field]} characters`, 'Write it in quotes, on one line.')
    else face[field] = value.trim()
  }
  return face
}
