import { isAbsolute, resolve } from 'node:path'
import {
  type Json,
  type JsonObject,
  type McpServerDefinition,
  type McpServerSettings,
  type Problem,
  TroupeError,
} from '../../contracts/index.ts'
import { ownType } from '../../policy/mcp-server-shape.ts'
import { serverDefinition } from '../../policy/mcp-servers.ts'
import { hasPlaceholders } from '../../policy/placeholders.ts'
import { type Config, type ConfigDiagnostic, sectionByLayer, settingsOf } from './config.ts'
import { folderOf, isOwnLayer } from './config-places.ts'
import { isSecretName } from './hide-secrets.ts'
import { type FileOrigin, keysOf, placeOf, type Sourced, showPath, sourcedAt, sourcedToJson } from './sourced.ts'
import { contentHash } from './trust/trust-records.ts'
import { resolveParts, type VariableSources } from './variables/resolve-placeholders.ts'

/** An MCP server of a configuration or of an agent file. */
export interface ConfiguredServer {
  readonly name: string
  /** As written, with placeholders. Paths are absolute. */
  readonly definition: McpServerDefinition
  readonly origin: FileOrigin
  /** Whether it may be started. */
  readonly isTrusted: boolean
}

/** The servers of the configuration: of each name the strongest one that is trusted, then those that wait for trust. */
export function serversOf(config: Config): readonly ConfiguredServer[] {
  const trusted = serversIn(settingsOf(config, 'mcpServers'), true)
  const names = new Set(trusted.map(({ name }) => name))
  const waiting = (config.withheldServers ?? []).flatMap((tree) => serversIn(tree, false))
  return [...trusted, ...waiting.filter(({ name }) => !names.has(name) && names.add(name))]
}

function serversIn(tree: Sourced | undefined, isTrusted: boolean): readonly ConfiguredServer[] {
  return keysOf(tree).flatMap((name): readonly ConfiguredServer[] => {
    const server = sourcedAt(tree, [name])
    if (!server) return []
    const { disabled, ...settings } = sourcedToJson(server) as JsonObject
    return disabled === true ? [] : [configuredServer(name, settings, { origin: server.origin, isTrusted })]
  })
}

/** Checked settings of a file as a server. */
export function configuredServer(
  name: string,
  settings: JsonObject,
  { origin, isTrusted }: Pick<ConfiguredServer, 'origin' | 'isTrusted'>,
): ConfiguredServer {
  const type = ownType(settings.type)
  const written = { ...settings, ...(type !== undefined && { type }) } as unknown as McpServerSettings
  const definition = serverDefinition(written)
  return { name, definition: definition.type === 'stdio' ? inFolder(definition, origin) : definition, origin, isTrusted }
}

/** Servers of a folder run in it; those of the user run in the workspace. Other paths are relative to the file. */
function inFolder(definition: Extract<McpServerDefinition, { type: 'stdio' }>, origin: FileOrigin): McpServerDefinition {
  const { cwd = isOwnLayer(origin.layer) ? undefined : '.', sandbox } = definition
  const absolute = (path: string): string => (hasPlaceholders(path) || isAbsolute(path) ? path : resolve(folderOf(origin), path))
  return {
    ...definition,
    ...(cwd !== undefined && { cwd: absolute(cwd) }),
    ...(typeof sandbox === 'object' && sandbox.writable && { sandbox: { ...sandbox, writable: sandbox.writable.map(absolute) } }),
  }
}

/** Servers that a stronger layer hides. */
export function hiddenServers(config: Config): readonly ConfigDiagnostic[] {
  const effective = settingsOf(config, 'mcpServers')
  return sectionByLayer(config, 'mcpServers').flatMap((layer) =>
    keysOf(layer).flatMap((name): readonly ConfigDiagnostic[] => {
      const [own, used] = [sourcedAt(layer, [name]), sourcedAt(effective, [name])]
      if (!own || !used || own.origin.file === used.origin.file) return []
      const message = `\`mcpServers.${name}\` is not used: ${placeOf(used.origin)} sets a server with this name`
      return [
        { code: 'config_key_unused', severity: 'info', place: placeOf(own.origin), message, remedy: 'Rename one of them to use both.' },
      ]
    }),
  )
}

interface ResolvedServer {
  readonly settings: McpServerSettings
  /** Values that must not be shown, by name. */
  readonly secrets: { readonly [name: string]: string }
}

/** Replaces the placeholders of a server, or says which variables are missing. */
export function resolveServer(
  { name, definition, origin }: ConfiguredServer,
  sources: VariableSources,
): ResolvedServer | readonly Problem[] {
  const path = ['mcpServers', name]
  const tree: Sourced = { kind: 'value', value: definition as unknown as Json, origin }
  try {
    const { values, used } = resolveParts([{ path, tree }], sources)
    const resolved = values[0] as unknown as McpServerDefinition
    const isSecret = (inside: readonly string[], variable: string): boolean =>
      inside[2] === 'headers' || isSecretName(variable) || inside.slice(2).some(isSecretName)
    const variables = used.flatMap((each) => (isSecret(each.path, each.name) ? [[each.name, each.value] as const] : []))
    const { clientSecret = '', privateKey = '' } = { ...(resolved.type === 'stdio' ? {} : resolved.auth) } as { [key: string]: string }
    const written = { ...(resolved.type === 'stdio' ? resolved.env : { ...resolved.headers, clientSecret, privateKey }) }
    const literal = Object.entries(written).flatMap(([key, value]) => (isSecretName(key) && value !== '' ? [[key, value] as const] : []))
    const secrets = [...variables, ...literal].map(([key, value]) => [`secret ${showPath([...path, key])}`, value])
    return { settings: escaped(resolved as unknown as Json) as unknown as McpServerSettings, secrets: Object.fromEntries(secrets) }
  } catch (error) {
    if (error instanceof TroupeError) return error.problems
    throw error
  }
}

/** Values of variables have no placeholders, so `${` in them is text. */
function escaped(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('${', '$$${')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map(escaped)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each ?? null)]))
}

/** A hash of what a person trusts: the definitions as written. A value, such as that of NODE_OPTIONS, can be code; `approval` is a permission. */
export const serversHash = (servers: readonly Pick<ConfiguredServer, 'name' | 'definition'>[]): string =>
  contentHash(
    JSON.stringify(
      servers.map(({ name, definition }) => [name, definition.type === 'auto' ? { ...definition, type: 'http' } : definition]),
    ),
  )
