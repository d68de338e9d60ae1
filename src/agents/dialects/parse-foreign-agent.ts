import { fileStem, safeName } from '../agent-file/safe-name.ts'
import { decodeText } from '../values/decode-text.ts'
import { didYouMean } from '../values/messages.ts'
import { Findings, maxWarnings } from './findings.ts'
import { type Dialect, type Draft, emptyDraft, type ForeignAgent, type ForeignText } from './foreign-agent.ts'
import { type DialectTable, dialectTables } from './key-tables.ts'
import { toolPermissions } from './permission-rules.ts'
import { readMarkdown } from './read-markdown.ts'
import { readToml } from './read-toml.ts'
import { SettingReader } from './setting-reader.ts'

/**
 * Reads an agent that was written for another tool. `place` is the path that names it, in problems too. Unknown keys and what we
 * cannot do are `warnings`; throws `agent_file_invalid` with everything that is wrong.
 */
export function parseForeignAgent(content: string | Uint8Array, place: string, reading: Dialect | Reading): ForeignAgent {
  const { dialect, models } = typeof reading === 'string' ? { dialect: reading, models: [] } : reading
  const findings = new Findings(decodeText(content, place), place)
  const table = dialectTables[dialect]
  const read = table.format === 'toml' ? readToml(findings) : readMarkdown(findings, place, (key) => isProse(table, key))
  const draft = emptyDraft()
  if (read) readSettings(findings, read, { draft, dialect, models })
  const name = read ? nameOf(findings, read, { draft, place, namedBy: table.namedBy }) : ''
  const verdicts = readToolPermissions(findings, draft, read)
  if (read) requireText(findings, read, draft)
  const { description = '', prompt = '', denied: _, rules: __, metadata, ...rest } = draft
  return { ...rest, ...verdicts, dialect, name, description, prompt, metadata: Object.fromEntries(metadata), warnings: findings.done() }
}

/** Whether nothing depends on how the value is read but its words. */
function isProse({ keys }: DialectTable, key: string): boolean {
  const rule = Object.hasOwn(keys, key) ? keys[key] : undefined
  return rule === undefined || rule.kind === 'text' || rule.kind === 'metadata'
}

/** How a file is read. */
interface Reading {
  readonly dialect: Dialect
  /** Names that the configuration has for models: they count before those that everybody knows. */
  readonly models: readonly string[]
}

interface Target extends Reading {
  readonly draft: Draft
}

function readSettings(findings: Findings, { settings, prompt }: ForeignText, { draft, ...reading }: Target): void {
  const { keys } = dialectTables[reading.dialect]
  const reader = new SettingReader(reading, findings, draft)
  const unknown = settings.filter(({ key }) => !Object.hasOwn(keys, key))
  for (const [index, { key, at }] of unknown.entries()) {
    const remedy = index < maxWarnings ? didYouMean(key, Object.keys(keys)) : undefined
    findings.warn(at, `\`${key.slice(0, 60)}\` is not known here and changes nothing`, remedy)
  }
  for (const [key, rule] of Object.entries(keys)) {
    for (const setting of settings) if (setting.key === key) reader.take(rule, setting)
  }
  if (prompt && prompt.value !== '') draft.prompt = prompt.value
}

function nameOf(
  findings: Findings,
  { at, settings }: ForeignText,
  { draft, place, namedBy }: { readonly draft: Draft; readonly place: string; readonly namedBy: DialectTable['namedBy'] },
): string {
  const stem = fileStem(place)
  const written = (namedBy === 'key' ? draft.name : undefined) ?? stem
  const name = safeName(written)
  const where = settings.find(({ key }) => key === 'name')?.valueAt ?? at
  if (name === '') findings.problem(where, 'no name can be made for the agent', 'Give it a `name` of letters, digits, `-` and `_`.')
  else if (namedBy === 'key' && draft.name === undefined)
    findings.warn(at, `\`name\` is missing; the agent is called \`${name}\`, after its file`)
  else if (namedBy === 'key' && name !== written) findings.warn(where, `the agent is called \`${name}\` here`)
  return name
}

type Verdict = Pick<ForeignAgent, 'tools' | 'deniedTools' | 'askTools' | 'exemptTools' | 'commandRules'>

function readToolPermissions(findings: Findings, { tools, denied, rules }: Draft, read: ForeignText | undefined): Verdict {
  if (rules.length === 0) return { tools, deniedTools: [...denied], askTools: [] }
  const { unknown, narrowed, notes, ...verdicts } = toolPermissions(rules)
  const at = read?.settings.find(({ key }) => /^(?:permissions?|tools)$/.test(key))?.at ?? { line: 1, column: 1 }
  for (const action of unknown) findings.warn(at, `a rule for \`${action}\` changes nothing: there is no such tool here`)
  for (const { message, remedy } of notes) findings.warn(at, message, remedy)
  for (const action of narrowed)
    findings.warn(at, `the rules for \`${action}\` depend on what it is done to: here the strictest of them holds for all of it`)
  return { ...verdicts, deniedTools: [...new Set([...verdicts.deniedTools, ...denied])] }
}

function requireText(findings: Findings, { at, prompt, settings }: ForeignText, draft: Draft): void {
  const has = (key: string): boolean => settings.some((setting) => setting.key === key)
  if (draft.description === undefined && !has('description'))
    findings.problem(at, '`description` is missing', 'Say in a line what the agent does and when to use it: `description: …`.')
  if (draft.prompt !== undefined) return
  if (prompt) findings.problem(prompt.at, 'the prompt is empty', 'Below the closing `---`, write what the agent is to do.')
  else if (!has('developer_instructions'))
    findings.problem(at, '`developer_instructions` is missing', 'Write there what the agent is to do.')
}
