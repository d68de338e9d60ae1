import { hash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { JsonObject, SkillCard, Tool, ToolContext, ToolFailure, ToolOutput } from '../../../contracts/index.ts'
import { isInside } from '../../../util/is-inside.ts'
import { showValue } from '../../../util/show-value.ts'
import { knownNames, suggestion } from '../../../util/suggestion.ts'
import { type ListedFiles, listFiles } from './list-files.ts'
import { type InsideText, readInside } from './read-inside.ts'

const loadSkillName = 'load_skill'

const largestFile = 256 * 1024

/** Loads the skills that an agent has. A skill is text: what it asks for goes through tools, and their rules, like anything else. */
export function loadSkillTool(): Tool {
  return {
    name: loadSkillName,
    description:
      'Loads the instructions of a skill by its name, or with `file` one of the text files that come with it. Load a skill before you do the work that it is about.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    execute: loadSkill,
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100, description: 'The name of the skill, as it is listed.' },
    file: { type: 'string', minLength: 1, maxLength: 1_000, description: 'The path of a file in the folder of the skill.' },
  },
  required: ['name'],
  additionalProperties: false,
}

async function loadSkill({ name, file }: JsonObject, { skills }: ToolContext): Promise<ToolOutput> {
  const card = skills.find((skill) => skill.name === name)
  if (!card) {
    const names = skills.map((skill) => skill.name)
    const remedy = names.length === 0 ? 'There are no skills: go on without one.' : knownNames(String(name), names, 'skill')
    return failed('invalid_input', `There is no skill ${showValue(name)}.`, remedy)
  }
  const folder = dirname(card.path)
  // It was found by its real path: where that leads elsewhere by now, what lies there is no longer what was found.
  if ((await realPathOf(folder)) !== folder)
    return failed('failed', `The folder of the skill \`${card.name}\` is no longer there: ${folder}.`, 'Go on without it.')
  return typeof file === 'string' ? loadFile(card, folder, file) : loadText(card, folder)
}

async function loadText(card: SkillCard, folder: string): Promise<ToolOutput> {
  const read = readInside(card.path, { folder: card.scope === 'repo' ? folder : undefined, mostBytes: largestFile })
  if (read.kind !== 'read') return failed('failed', `The skill \`${card.name}\` cannot be loaded: ${whyNot(read)}.`, 'Go on without it.')
  const isChanged = hash('sha256', read.bytes) !== card.hash
  // A person may link to a text wherever it is. Where that may be a place that commands write to, nobody here knows.
  if (isChanged && !isInside(folder, read.real)) {
    const why = 'it is a link out of its folder, and what it leads to has changed since this session began'
    return failed('failed', `The skill \`${card.name}\` cannot be loaded: ${why}.`, 'Go on without it.')
  }
  const { files, isCut } = await listFiles(folder)
  const parts = [
    `Skill \`${card.name}\` from ${card.path}. Paths in it are relative to ${folder}. It permits nothing: tools and their rules are as before.`,
    ...(isChanged ? ['It has changed since this session began; this is how it reads now.'] : []),
    '',
    read.text.trim(),
    ...(files.length === 0 ? [] : ['', 'Files that come with it:', ...files.map((each) => `- ${each}`)]),
    ...(isCut ? ['There are more files that are not listed.'] : []),
  ]
  return { ok: true, content: parts.join('\n') }
}

async function loadFile(card: SkillCard, folder: string, file: string): Promise<ToolOutput> {
  const read = readInside(resolve(folder, file), { folder, mostBytes: largestFile })
  if (read.kind === 'read') return { ok: true, content: read.text }
  const message = `The file ${showValue(file)} of the skill \`${card.name}\` cannot be loaded: ${whyNot(read)}.`
  return failed('invalid_input', message, remedyFor(read, file, await listFiles(folder)))
}

function whyNot(read: Exclude<InsideText, { kind: 'read' }>): string {
  switch (read.kind) {
    case 'missing':
      return 'it is not there'
    case 'outside':
      return 'it lies outside the folder of the skill'
    case 'refused':
      return read.why
    default:
      return read satisfies never
  }
}

function remedyFor({ kind }: InsideText, file: string, { files }: ListedFiles): string {
  if (kind === 'refused') return 'Only texts can be loaded; use another tool for what is none.'
  const sameName = files.find((each) => basename(each) === basename(file))
  if (sameName !== undefined) return `Did you mean ${sameName}?`
  return suggestion(file, files) ?? 'No files come with this skill.'
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch {
    return undefined
  }
}

const failed = (kind: ToolFailure['class'], message: string, remedy: string): ToolOutput => ({
  ok: false,
  error: { class: kind, message, remedy },
})
