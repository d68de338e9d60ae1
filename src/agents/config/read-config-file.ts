import { isMap, isScalar, type Node } from 'yaml'
import type { ApprovalRule } from '../../contracts/index.ts'
import { overriddenRules } from '../ineffective-rules.ts'
import { describeNode } from '../values/messages.ts'
import type { ConfigDiagnostic } from './config.ts'
import type { ConfigFile } from './config-places.ts'
import { type EnvVariable, parseEnv } from './files/env-file.ts'
import { JsonSource } from './files/json-source.ts'
import { configShape, sectionNames, sectionOf } from './sections.ts'
import { readShape } from './shape.ts'
import { type FileOrigin, type Sourced, type SourcedMap, sourcedAt } from './sourced.ts'

/** What a file of the configuration says. */
export type FileContent =
  | { readonly kind: 'settings'; readonly tree: SourcedMap; readonly diagnostics: readonly ConfigDiagnostic[] }
  | { readonly kind: 'variables'; readonly variables: ReadonlyMap<string, EnvVariable> }

/** Throws `config_invalid` with everything that is wrong in it. */
export function readConfigFile(content: string | Uint8Array, file: ConfigFile): FileContent {
  if (file.role === 'variables') return { kind: 'variables', variables: parseEnv(content, file.path) }
  const source = new JsonSource(content, file.path, file.layer)
  return file.role === 'settings' ? readSettings(source) : readServers(source)
}

function readSettings(source: JsonSource): FileContent {
  const tree = source.root && readShape(source.root, configShape, { source, path: [] })
  source.done()
  if (tree?.kind !== 'map') return nothing(source)
  const entries = new Map([...tree.entries].filter(([name]) => name !== '$schema'))
  const diagnostics = sectionNames.flatMap((name): readonly ConfigDiagnostic[] => {
    const section = entries.get(name)
    return section && sectionOf(name).use === 'later'
      ? [unused(name, `${source.file}:${section.origin.line}:${section.origin.column}`)]
      : []
  })
  return { kind: 'settings', tree: { ...tree, entries }, diagnostics: [...diagnostics, ...ineffectiveRules(tree)] }
}

function ineffectiveRules(tree: Sourced): readonly ConfigDiagnostic[] {
  const section = sourcedAt(tree, ['approvals', 'rules'])
  if (section?.kind !== 'value') return []
  const rules = section.value as readonly ApprovalRule[]
  return overriddenRules(rules).map(({ index, message, remedy }) =>
    idle(section.entries?.[index] ?? section.origin, `a rule has no effect: ${message}`, remedy),
  )
}

const idle = ({ file, line, column }: FileOrigin, message: string, remedy: string): ConfigDiagnostic => ({
  code: 'config_rule_idle',
  severity: 'warning',
  place: `${file}:${line}:${column}`,
  message,
  remedy,
})

/** `.mcp.json` belongs to other programs too: what else they keep in it is told, and no error. */
function readServers(source: JsonSource): FileContent {
  const { root } = source
  const diagnostics: ConfigDiagnostic[] = []
  if (root && !isMap(root))
    source.problem(root, `a \`.mcp.json\` must be a map, not ${describeNode(root)}`, 'Write it like `{ "mcpServers": { … } }`.')
  const pairs = isMap<Node, Node | null>(root) ? root.items : []
  const entries = new Map<string, Sourced>()
  for (const { key, value } of pairs) {
    const name = isScalar(key) ? String(key.value) : ''
    const { line, column } = source.origin(key)
    const place = `${source.file}:${line}:${column}`
    if (name !== 'mcpServers')
      diagnostics.push({
        code: 'config_key_unused',
        severity: 'info',
        place,
        message: `\`${name}\` is not read`,
        remedy: 'Only `mcpServers` counts here; Troupe has its own settings in `.ai-agent.json`.',
      })
    else if (entries.has(name)) source.problem(key, '`mcpServers` is there twice', 'Remove one of them.')
    else {
      const tree = value && readShape(value, sectionOf('mcpServers').shape, { source, path: [name] })
      if (tree) entries.set(name, tree)
      if (sectionOf('mcpServers').use === 'later') diagnostics.push(unused(name, place))
    }
  }
  source.done()
  return root
    ? { kind: 'settings', tree: { kind: 'map', entries, origin: source.origin(root), sealed: false }, diagnostics }
    : nothing(source)
}

/** An empty file says nothing. */
function nothing(source: JsonSource): FileContent {
  return { kind: 'settings', tree: { kind: 'map', entries: new Map(), origin: source.origin(0), sealed: false }, diagnostics: [] }
}

function unused(section: string, place: string): ConfigDiagnostic {
  return {
    code: 'config_section_unused',
    severity: 'warning',
    place,
    message: `\`${section}\` has no effect yet in this version`,
    remedy: 'It is kept for a later one; nothing that it says is done now.',
  }
}
