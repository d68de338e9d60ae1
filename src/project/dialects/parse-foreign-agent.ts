import { didYouMean } from '../../yaml/messages.ts'
import { maxReported, SourceText, startOfText } from '../../yaml/source-text.ts'
import { fileStem, safeName } from '../agent-file/safe-name.ts'
import { decodeAgentText } from '../values/decode-text.ts'
import { type Dialect, type Draft, emptyDraft, type ForeignAgent, type ForeignText } from './foreign-agent.ts'
import { type DialectTable, dialectTables } from './key-tables.ts'
import { toolPermissions } from './permission-rules.ts'
import { readMarkdown } from './read-markdown.ts'
import { readToml } from './read-toml.ts'
import { SettingReader } from './setting-reader.ts'

interface Reading {
  readonly dialect: Dialect
  /** Aliases of models in the configuration. They win over well-known names. */
  readonly models: readonly string[]
}

/** `place` is the path. Unsupported settings are `warnings`. Throws `agent_file_invalid` with all problems. */
export function parseForeignAgent(content: string | Uint8Array, place: string, reading: Dialect | Reading): ForeignAgent {
  const { dialect, models } = typeof reading === 'string' ? { dialect: reading, models: [] } : reading
  const source = new SourceText(decodeAgentText(content, place), place)
  const table = dialectTables[dialect]
  const read = table.format === 'toml' ? readToml(source) : readMarkdown(source, (key) => isProse(table, key))
  const draft = emptyDraft()
  if (read) readSettings(source, read, { draft, dialect, models })
  const name = read ? nameOf(source, read, { draft, namedBy: table.namedBy }) : ''
  const permissions = readToolPermissions(source, draft, read)
  if (read) requireText(source, read, draft)
  source.throwIfProblems('agent_file_invalid', 'the agent file')
  const { description = '', prompt = '', denied: _, rules: __, metadata, ...rest } = draft
  const { warnings } = source
  return { ...rest, ...permissions, dialect, name, description, prompt, metadata: Object.fromEntries(metadata), warnings }
}

/** Whether the value is text or unused, so that quoting it changes nothing. */
function isProse({ keys }: DialectTable, key: string): boolean {
  const rule = Object.hasOwn(keys, key) ? keys[key] : undefined
  return rule === undefined || rule.kind === 'text' || rule.kind === 'metadata'
}

function readSettings(
  source: SourceText,
  { settings, prompt }: ForeignText,
  { draft, ...reading }: Reading & { readonly draft: Draft },
): void {
  const { keys } = dialectTables[reading.dialect]
  const reader = new SettingReader(reading, source, draft)
  const unknown = settings.filter(({ key }) => !Object.hasOwn(keys, key))
  for (const [index, { key, at }] of unknown.entries()) {
    const remedy = index < maxReported ? didYouMean(key, Object.keys(keys)) : undefined
    source.warn(at, `unknown key \`${key.slice(0, 60)}\`: it has no effect`, remedy)
  }
  for (const [key, rule] of Object.entries(keys)) {
    for (const setting of settings) if (setting.key === key) reader.take(rule, setting)
  }
  if (prompt && prompt.value !== '') draft.prompt = prompt.value
}

function nameOf(
  source: SourceText,
  { at, settings }: ForeignText,
  { draft, namedBy }: { readonly draft: Draft; readonly namedBy: DialectTable['namedBy'] },
): string {
  const written = (namedBy === 'key' ? draft.name : undefined) ?? fileStem(source.place)
  const name = safeName(written)
  const where = settings.find(({ key }) => key === 'name')?.valueAt ?? at
  if (name === '') source.problem(where, 'the agent has no valid name', 'Set a `name` of letters, digits, `-` and `_`.')
  else if (namedBy === 'key' && draft.name === undefined)
    source.warn(at, `\`name\` is missing; the agent is named \`${name}\`, after its file`)
  else if (namedBy === 'key' && name !== written) source.warn(where, `the agent is named \`${name}\` here`)
  return name
}

type Permissions = Pick<ForeignAgent, 'tools' | 'deniedTools' | 'askTools' | 'exemptTools' | 'commandRules'>

function readToolPermissions(source: SourceText, { tools, denied, rules }: Draft, read: ForeignText | undefined): Permissions {
  if (rules.length === 0) return { tools, deniedTools: [...denied], askTools: [] }
  const { unknown, narrowed, notes, ...permissions } = toolPermissions(rules)
  const at = read?.settings.find(({ key }) => /^(?:permissions?|tools)$/.test(key))?.at ?? startOfText
  for (const action of unknown) source.warn(at, `the rule for \`${action}\` has no effect: there is no such tool`)
  for (const { message, remedy } of notes) source.warn(at, message, remedy)
  for (const action of narrowed)
    source.warn(at, `the rules for \`${action}\` depend on paths or patterns; here the strictest applies to all of them`)
  return { ...permissions, deniedTools: [...new Set([...permissions.deniedTools, ...denied])] }
}

function requireText(source: SourceText, { at, prompt, settings }: ForeignText, draft: Draft): void {
  const has = (key: string): boolean => settings.some((setting) => setting.key === key)
  if (draft.description === undefined && !has('description'))
    source.problem(at, '`description` is missing', 'Add one line about what the agent does and when to use it: `description: …`.')
  if (draft.prompt !== undefined) return
  if (prompt) source.problem(prompt.at, 'the prompt is empty', 'Write the instructions for the agent below the closing `---`.')
  else if (!has('developer_instructions'))
    source.problem(at, '`developer_instructions` is missing', 'Add it with the instructions for the agent.')
}
