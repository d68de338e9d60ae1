import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import * as fs from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { JsonObject, SkillCard, Tool, ToolContext, ToolFailure, ToolOutput } from '../../../contracts/index.ts'
import { safeRead } from '../../../policy/safe-read.ts'
import { isInside } from '../../../util/is-inside.ts'
import { knownNames, suggestion } from '../../../util/nearest-names.ts'
import { showValue } from '../../../util/show-value.ts'

const largestFile = 256 * 1024

/** Loads the skills of an agent. A skill is only text: it grants no permissions. */
export function loadSkillTool(): Tool {
  return {
    name: 'load_skill',
    description:
      'Load the instructions of a skill, or with `file` one of its text files. Load a skill before you start the work it describes.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    execute: loadSkill,
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100, description: 'Name of the skill, as listed.' },
    file: { type: 'string', minLength: 1, maxLength: 1_000, description: 'Path of a file in the folder of the skill.' },
  },
  required: ['name'],
  additionalProperties: false,
}

async function loadSkill({ name, file }: JsonObject, { skills }: ToolContext): Promise<ToolOutput> {
  const card = skills.find((skill) => skill.name === name)
  if (!card) {
    const names = skills.map((skill) => skill.name)
    const remedy = names.length === 0 ? 'There are no skills. Continue without one.' : knownNames(String(name), names, 'skill')
    return failed('invalid_input', `There is no skill ${showValue(name)}.`, remedy)
  }
  const folder = dirname(card.path)
  // Discovery stored the real path. If it resolves elsewhere now, this is another folder.
  if ((await realpath(folder).catch(() => undefined)) !== folder)
    return failed('failed', `The folder of the skill \`${card.name}\` no longer exists: ${folder}.`, 'Continue without it.')
  return typeof file === 'string' ? loadFile(card, folder, file) : loadText(card, folder)
}

async function loadText(card: SkillCard, folder: string): Promise<ToolOutput> {
  const read = readInside(card.path, card.scope === 'repo' ? folder : undefined)
  if (read.kind !== 'read') return failed('failed', `The skill \`${card.name}\` cannot be loaded: ${whyNot(read)}.`, 'Continue without it.')
  const isChanged = hash('sha256', read.bytes) !== card.hash
  // A person may link to a file anywhere, but commands may be able to write there.
  if (isChanged && !isInside(folder, read.real)) {
    const why = 'it is a link out of its folder, and its target has changed since this session started'
    return failed('failed', `The skill \`${card.name}\` cannot be loaded: ${why}.`, 'Continue without it.')
  }
  const { files, isCut } = await listSkillFiles(folder)
  const parts = [
    `Skill \`${card.name}\` from ${card.path}. Its paths are relative to ${folder}. It grants no permissions.`,
    ...(isChanged ? ['It has changed since this session started; this is the current text.'] : []),
    '',
    read.text.trim(),
    ...(files.length === 0 ? [] : ['', 'Files of this skill:', ...files.map((each) => `- ${each}`)]),
    ...(isCut ? ['More files are not listed.'] : []),
  ]
  return { ok: true, content: parts.join('\n') }
}

async function loadFile(card: SkillCard, folder: string, file: string): Promise<ToolOutput> {
  const read = readInside(resolve(folder, file), folder)
  if (read.kind === 'read') return { ok: true, content: read.text }
  const message = `The file ${showValue(file)} of the skill \`${card.name}\` cannot be loaded: ${whyNot(read)}.`
  return failed('invalid_input', message, remedyFor(read, file, await listSkillFiles(folder)))
}

function whyNot(read: Exclude<InsideText, { kind: 'read' }>): string {
  if (read.kind === 'refused') return read.why
  return read.kind === 'missing' ? 'it does not exist' : 'it is outside the folder of the skill'
}

function remedyFor({ kind }: InsideText, file: string, { files }: ListedFiles): string {
  if (kind === 'refused') return 'Only text files can be loaded. Use another tool for other files.'
  const sameName = files.find((each) => basename(each) === basename(file))
  if (sameName !== undefined) return `Did you mean ${sameName}?`
  return suggestion(file, files) ?? 'This skill has no files.'
}

const failed = (kind: ToolFailure['class'], message: string, remedy: string): ToolOutput => ({
  ok: false,
  error: { class: kind, message, remedy },
})

type InsideText =
  /** `real` is the real path of the opened file. */
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly text: string; readonly real: string }
  | { readonly kind: 'missing' | 'outside' }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * Reads a text file of a folder, a real path; without one, the file may be anywhere. The path of the opened file is checked:
 * it may have been replaced by a link.
 */
function readInside(path: string, folder: string | undefined): InsideText {
  if (folder !== undefined && (path === folder || !isInside(folder, path))) return { kind: 'outside' }
  const found = safeRead(fs, path, { root: folder, maxBytes: largestFile })
  if (found.kind === 'withheld') return { kind: 'refused', why: found.why }
  if (found.kind !== 'read') return found
  const { bytes, size, real } = found
  if (size > largestFile) return { kind: 'refused', why: `it has ${size} bytes, and ${largestFile} is the most` }
  if (bytes.includes(0) || !isUtf8(bytes)) return { kind: 'refused', why: `it is no UTF-8 text (${bytes.length} bytes)` }
  return { kind: 'read', bytes, text: new TextDecoder().decode(bytes), real }
}

const mostListed = 50
const mostLooked = 2_000
const mostDepth = 6
const skipped = new Set(['node_modules', '.git'])

interface ListedFiles {
  /** Relative to the folder, sorted. */
  readonly files: readonly string[]
  readonly isCut: boolean
}

/** The files of a skill without SKILL.md and SKILL.toml. Links are listed, not followed. */
async function listSkillFiles(folder: string): Promise<ListedFiles> {
  const files: string[] = []
  const waiting = [{ path: folder, depth: 1 }]
  let looked = 0
  let isCut = false
  for (let next = waiting.shift(); next && !isCut; next = waiting.shift()) {
    const { path, depth } = next
    for (const entry of await entriesOf(path, mostLooked - looked)) {
      if (++looked >= mostLooked) isCut = true
      const inner = join(path, entry.name)
      if (!entry.isDirectory()) files.push(relative(folder, inner))
      else if (depth >= mostDepth) isCut = true
      else if (!skipped.has(entry.name)) waiting.push({ path: inner, depth: depth + 1 })
    }
  }
  const others = files.filter((file) => file !== 'SKILL.md' && file !== 'SKILL.toml').sort()
  return { files: others.slice(0, mostListed), isCut: isCut || others.length > mostListed }
}

async function entriesOf(path: string, most: number): Promise<readonly Dirent[]> {
  const entries: Dirent[] = []
  try {
    for await (const entry of await opendir(path)) {
      if (entries.length >= most) break
      entries.push(entry)
    }
  } catch {
    // Loading a file of this folder reports the error.
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}
