import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { basename, join } from 'node:path'
import type { SkillCard } from '../../contracts/index.ts'
import { readRegularFile } from '../project-context/project-files.ts'
import type { SkillProblem } from './skill-problem.ts'
import { readSkillSettings, type SkillDetails } from './skill-settings.ts'
import { readSkillToml, skillSettingsFile } from './skill-toml.ts'
import { type SkillFolder, skillFile } from './walk-skills.ts'

/** The largest `SKILL.md`: what is longer belongs into files that are read when they are needed. */
export const maxSkillBytes = 256 * 1024

export interface ReadSkill {
  /** Absent where there is an error among the problems. */
  readonly skill?: { readonly card: SkillCard; readonly details: SkillDetails }
  readonly problems: readonly SkillProblem[]
}

/** Reads what is to be known of a skill before it is loaded. */
export function readSkill(folder: SkillFolder): ReadSkill {
  const path = join(folder.path, skillFile)
  const problems: SkillProblem[] = []
  const tell = (problem: SkillProblem): void => {
    problems.push({ ...problem, folder: folder.path })
  }
  const content = readText(folder, path)
  if (!content.ok) {
    tell({ severity: 'error', place: path, message: content.message, remedy: content.remedy })
    return { problems }
  }
  const settings = readSkillSettings(content.text, path, tell)
  const name = settings && checkedName(settings.name, { folder, path, tell })
  const isBroken = problems.some(({ severity }) => severity === 'error')
  if (isBroken || !settings || name === undefined || settings.description === undefined) return { problems }
  const { name: _name, description, ...details } = settings
  const face = readSkillToml({ path: join(folder.path, skillSettingsFile), root: rootOf(folder) }, tell)
  const card = { name, description, scope: folder.scope, path, hash: hash('sha256', content.bytes), ...face }
  return { skill: { card, details }, problems }
}

type SkillText =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly remedy: string }

/** What comes with a project stays in its folder. A person may link to whatever they like. */
const rootOf = ({ path, scope }: SkillFolder): string | undefined => (scope === 'repo' ? path : undefined)

function readText(folder: SkillFolder, path: string): SkillText {
  const file = readRegularFile(path, { root: rootOf(folder), maxBytes: maxSkillBytes })
  if (file.kind === 'missing') return { ok: false, message: `${skillFile} leads nowhere`, remedy: 'Mend the link, or remove it.' }
  if (file.kind === 'outside')
    return { ok: false, message: `${skillFile} is a link that leaves its folder`, remedy: 'Put the file itself there.' }
  if (file.kind !== 'read') return { ok: false, message: `${skillFile} cannot be used: ${file.why}`, remedy: 'Put a text file there.' }
  const { bytes, size } = file
  if (size > maxSkillBytes) {
    const remedy = 'Move parts of it into files beside it, and name them in it: they are read when they are needed.'
    return { ok: false, message: `${skillFile} has ${size} bytes, and ${maxSkillBytes} is the most`, remedy }
  }
  if (bytes.includes(0)) return { ok: false, message: `${skillFile} is binary`, remedy: 'Put a text file there.' }
  if (!isUtf8(bytes)) return { ok: false, message: `${skillFile} is not UTF-8`, remedy: 'Save it as UTF-8.' }
  return { ok: true, bytes, text: new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n') }
}

interface Naming {
  readonly folder: SkillFolder
  readonly path: string
  tell(problem: SkillProblem): void
}

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** The name that it states, or else that of its folder. */
function checkedName(stated: string | undefined, { folder, path, tell }: Naming): string | undefined {
  const own = basename(folder.path)
  const name = stated ?? own
  if (name.length > 64 || !kebab.test(name)) {
    const message = `\`${name.slice(0, 80)}\` is no name of a skill`
    const remedy = `It has small letters and digits, with single hyphens between them, 64 at most${stated === undefined ? ': write a `name`' : ''}.`
    tell({ severity: 'error', place: path, message, remedy })
    return undefined
  }
  if (name !== own) {
    const message = `the skill is called \`${name}\`, and its folder \`${own}\``
    tell({ severity: 'warning', place: path, message, remedy: 'Call them the same: other programs expect it.' })
  }
  return name
}
