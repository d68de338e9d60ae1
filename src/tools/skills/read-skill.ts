import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { basename, join } from 'node:path'
import type { SkillCard } from '../../contracts/index.ts'
import { readRegularFile } from '../project-context/project-files.ts'
import type { SkillProblem } from './skill-problem.ts'
import { readSkillSettings, type SkillDetails } from './skill-settings.ts'
import { readSkillToml, skillSettingsFile } from './skill-toml.ts'
import { type SkillFolder, skillFile } from './walk-skills.ts'

/** Longer texts belong into other files of the folder. */
const maxSkillBytes = 256 * 1024

interface ReadSkill {
  /** Absent if there is an error. */
  readonly skill?: { readonly card: SkillCard; readonly details: SkillDetails }
  readonly problems: readonly SkillProblem[]
}

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

/** Skills of a project must be inside their folder. The user's own can be links. */
const rootOf = ({ path, scope }: SkillFolder): string | undefined => (scope === 'repo' ? path : undefined)

function readText(folder: SkillFolder, path: string): SkillText {
  const file = readRegularFile(path, { root: rootOf(folder), maxBytes: maxSkillBytes })
  if (file.kind === 'missing') return { ok: false, message: `${skillFile} is a dangling link`, remedy: 'Fix the link, or remove it.' }
  if (file.kind === 'outside')
    return { ok: false, message: `${skillFile} is a link to a file outside its folder`, remedy: 'Replace the link by the file.' }
  if (file.kind !== 'read') return { ok: false, message: `${skillFile} cannot be used: ${file.why}`, remedy: 'Use a text file.' }
  const { bytes, size } = file
  if (size > maxSkillBytes) {
    const remedy = 'Move parts of it into other files of the folder and refer to them; the agent reads them when it needs them.'
    return { ok: false, message: `${skillFile} has ${size} bytes; the maximum is ${maxSkillBytes}`, remedy }
  }
  if (bytes.includes(0)) return { ok: false, message: `${skillFile} is binary`, remedy: 'Use a text file.' }
  if (!isUtf8(bytes)) return { ok: false, message: `${skillFile} is not UTF-8`, remedy: 'Save it as UTF-8.' }
  return { ok: true, bytes, text: new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n') }
}

interface Naming {
  readonly folder: SkillFolder
  readonly path: string
  tell(problem: SkillProblem): void
}

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** The `name` setting, else the name of the folder. */
function checkedName(stated: string | undefined, { folder, path, tell }: Naming): string | undefined {
  const own = basename(folder.path)
  const name = stated ?? own
  if (name.length > 64 || !kebab.test(name)) {
    const message = `\`${name.slice(0, 80)}\` is not a valid skill name`
    const remedy = `Use at most 64 lower-case letters, digits and single hyphens${stated === undefined ? ', in a `name`' : ''}.`
    tell({ severity: 'error', place: path, message, remedy })
    return undefined
  }
  if (name !== own) {
    const message = `the skill is called \`${name}\`, and its folder \`${own}\``
    tell({ severity: 'warning', place: path, message, remedy: 'Use the same name: other programs expect it.' })
  }
  return name
}
