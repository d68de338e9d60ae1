import { isMap, type Node } from 'yaml'
import type { ApprovalRule } from '../../contracts/index.ts'
import { foreignServersShape } from '../../policy/mcp-server-shape.ts'
import { describeNode } from '../../yaml/messages.ts'
import { keyText } from '../../yaml/yaml-nodes.ts'
import { overriddenRules } from '../options/ineffective-rules.ts'
import type { ConfigDiagnostic } from './config.ts'
import type { ConfigFile } from './config-places.ts'
import { type EnvVariable, parseEnv } from './files/env-file.ts'
import { JsonSource } from './files/json-source.ts'
import { configShape } from './sections.ts'
import { readShape } from './shape.ts'
import { placeOf, type Sourced, type SourcedMap, sourcedAt } from './sourced.ts'

/** The content of a file of the configuration. */
export type FileContent =
  | { readonly kind: 'settings'; readonly tree: SourcedMap; readonly diagnostics: readonly ConfigDiagnostic[] }
  | { readonly kind: 'variables'; readonly variables: ReadonlyMap<string, EnvVariable> }

/** Throws `config_invalid` with all problems. */
export function readConfigFile(content: string | Uint8Array, file: ConfigFile): FileContent {
  if (file.role === 'variables') return { kind: 'variables', variables: parseEnv(content, file.path) }
  const source = new JsonSource(content, file.path, file.layer)
  return file.role === 'settings' ? readSettings(source) : readServers(source)
}

function readSettings(source: JsonSource): FileContent {
  const tree = source.root && readShape(source.root, configShape, { source, path: [] })
  source.throwIfProblems()
  const entries = new Map(tree?.kind === 'map' ? [...tree.entries].filter(([name]) => name !== '$schema') : [])
  return settingsContent(source, entries, ineffectiveRules(sourcedAt(entries.get('approvals'), ['rules'])))
}

function ineffectiveRules(rules: Sourced | undefined): readonly ConfigDiagnostic[] {
  if (rules?.kind !== 'value') return []
  return overriddenRules(rules.value as readonly ApprovalRule[]).map(({ index, message, remedy }) => ({
    code: 'config_rule_idle',
    severity: 'warning',
    place: placeOf(rules.entries?.[index] ?? rules.origin),
    message: `a rule has no effect: ${message}`,
    remedy,
  }))
}

/** Other programs use `.mcp.json` too, so unknown keys are no errors. */
function readServers(source: JsonSource): FileContent {
  const { root } = source
  const diagnostics: ConfigDiagnostic[] = []
  if (root && !isMap(root))
    source.problem(root, `a \`.mcp.json\` must be an object, not ${describeNode(root)}`, 'Write it like `{ "mcpServers": { … } }`.')
  const entries = new Map<string, Sourced>()
  for (const { key, value } of isMap<Node, Node | null>(root) ? root.items : []) {
    const name = keyText(key)
    const place = placeOf(source.origin(key))
    if (name !== 'mcpServers') {
      const remedy = 'Only `mcpServers` is used; put settings of Troupe into `.ai-agent.json`.'
      diagnostics.push({ code: 'config_key_unused', severity: 'info', place, message: `\`${name}\` is not used`, remedy })
    } else if (entries.has(name)) source.problem(key, '`mcpServers` is set twice', 'Remove one of them.')
    else {
      const tree = value && readShape(value, foreignServersShape, { source, path: [name] })
      if (tree) entries.set(name, tree)
    }
  }
  source.throwIfProblems()
  const remedy = 'Use `.ai-agent.json` for a server with other settings.'
  const unused = source.notices.map((notice): ConfigDiagnostic => ({ code: 'config_key_unused', severity: 'info', ...notice, remedy }))
  return settingsContent(source, entries, [...diagnostics, ...unused])
}

const settingsContent = (source: JsonSource, entries: SourcedMap['entries'], diagnostics: readonly ConfigDiagnostic[]): FileContent => ({
  kind: 'settings',
  tree: { kind: 'map', entries, origin: source.origin(source.root ?? 0), sealed: false },
  diagnostics,
})
