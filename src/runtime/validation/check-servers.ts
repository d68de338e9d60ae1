import type { McpServerAuth, McpServerSettings, Problem } from '../../contracts/index.ts'
import { isServerName, serverConflicts, serverNaming, serverTransports } from '../../policy/mcp-servers.ts'
import { hasPlaceholders, parsePlaceholders } from '../../policy/placeholders.ts'
import {
  aBoolean,
  anything,
  aString,
  checkOnlyFields,
  expectObject,
  type FieldType,
  isListOfStrings,
  isPlainRecord,
  oneOf,
  optional,
  stringList,
} from '../../util/option-problems.ts'
import { parseHttpAddress } from '../../util/read-address.ts'
import { checkSandbox } from './check-policies.ts'

const texts: FieldType = {
  expected: 'an object with strings',
  isSecret: true,
  accepts: (value) => isPlainRecord(value) && Object.values(value).every((each) => typeof each === 'string'),
}
const patterns = (values: readonly string[]): FieldType => ({
  expected: `an object with patterns of tool names, each ${values.join(' or ')}`,
  accepts: (value) => isPlainRecord(value) && Object.values(value).every((each) => values.includes(each as string)),
})
const nonBlank: FieldType = { expected: 'a string', accepts: (value) => typeof value === 'string' && value.trim() !== '' }
const count: FieldType = { expected: 'an integer of at least 1', accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1 }

type ServerKey = McpServerSettings extends infer Each ? (Each extends unknown ? keyof Each : never) : never

const serverFields: { readonly [Key in ServerKey]: FieldType } = {
  type: optional(oneOf(serverTransports)),
  command: optional(nonBlank),
  args: optional(stringList('a list of strings')),
  env: optional(texts),
  cwd: optional(nonBlank),
  sandbox: anything,
  url: optional({
    expected: 'an http: or https: URL',
    accepts: (value) => typeof value === 'string' && (hasPlaceholders(value) || parseHttpAddress(value) !== undefined),
  }),
  headers: optional(texts),
  auth: anything,
  tools: optional({
    expected: '{ allow, deny }, each a list of patterns',
    accepts: (value) =>
      isPlainRecord(value) && Object.entries(value).every(([key, each]) => (key === 'allow' || key === 'deny') && isListOfStrings(each)),
  }),
  effects: optional(patterns(['read', 'idempotent', 'write'])),
  approval: optional(patterns(['ask', 'allow'])),
  queue: anything,
  timeout: optional({ ...count, expected: 'milliseconds of at least 1' }),
  protocol: optional(oneOf(['2026-07-28', '2025-11-25', 'auto'])),
  connect: optional(oneOf(['eager', 'lazy'])),
  required: optional(aBoolean),
  share: optional(oneOf(['session', 'process'])),
}

const secret: FieldType = { ...nonBlank, isSecret: true }
const authOptions = { scopes: optional(stringList('a list of strings')), issuer: optional(nonBlank) }

const authFields: { readonly [Auth in McpServerAuth as Auth['type']]: { readonly [Key in keyof Auth]-?: FieldType } } = {
  oauth: {
    type: anything,
    clientId: optional(nonBlank),
    clientSecret: optional(secret),
    clientMetadataUrl: optional(nonBlank),
    redirectPort: optional({
      ...count,
      expected: 'a port',
      accepts: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536,
    }),
    ...authOptions,
  },
  client_credentials: {
    type: anything,
    clientId: nonBlank,
    clientSecret: optional(secret),
    privateKey: optional(secret),
    ...authOptions,
  },
}

function checkAuth(problems: Problem[], auth: unknown, place: string): void {
  if (!expectObject(problems, auth as object | undefined, place)) return
  const { type } = auth as Partial<McpServerAuth>
  if (type === 'oauth' || type === 'client_credentials') checkOnlyFields(problems, auth as object, { fields: authFields[type], place })
  else problems.push({ place: `${place}.type`, message: 'expected "oauth" or "client_credentials"' })
}

/** `null` is no object either, unlike `undefined`. */
const noObject = null as unknown as object

/** The servers of a configuration or an agent. `taken`: names of other sources. */
export function checkServers(
  problems: Problem[],
  servers: unknown,
  { place, taken = [] }: { readonly place: string; readonly taken?: readonly string[] },
): void {
  if (!expectObject(problems, servers as object | undefined, place)) return
  for (const [name, server] of Object.entries(servers as { readonly [name: string]: { readonly [key: string]: unknown } })) {
    const here = `${place}.${name}`
    if (!isServerName(name))
      problems.push({ place: here, message: `"${name}" is not a valid name for an MCP server`, remedy: `${serverNaming}.` })
    if (taken.includes(name))
      problems.push({ place: here, message: `"${name}" is the name of a source in config.tools`, remedy: 'Names of sources are unique.' })
    if (expectObject(problems, server ?? noObject, here)) checkServer(problems, server, here)
  }
}

function checkServer(problems: Problem[], server: { readonly [key: string]: unknown }, place: string): void {
  checkOnlyFields(problems, server, { fields: serverFields, place })
  for (const { key, message, remedy } of serverConflicts(server))
    problems.push({ place: `${place}.${key}`, message: `the server ${message}`, remedy })
  const { sandbox, queue, auth } = server
  checkAuth(problems, auth, `${place}.auth`)
  if (sandbox !== undefined && sandbox !== 'off') checkSandbox(problems, sandbox, { place: `${place}.sandbox`, without: ['mode'] })
  if (expectObject(problems, queue as object | undefined, `${place}.queue`))
    checkOnlyFields(problems, queue as object, {
      fields: { concurrent: optional(count), perMinute: optional(count) },
      place: `${place}.queue`,
    })
  const unclosed = placeholdersIn(server).flatMap((text) => {
    const parsed = parsePlaceholders(text)
    return parsed.ok ? [] : [parsed.message]
  })
  for (const message of new Set(unclosed)) problems.push({ place, message })
}

const placeholdersIn = ({ command, args, env, cwd, url, headers, auth }: { readonly [key: string]: unknown }): readonly string[] =>
  [command, args, cwd, url, ...[env, headers, auth].map((map) => (isPlainRecord(map) ? Object.values(map).flat() : []))]
    .flat()
    .filter((each): each is string => typeof each === 'string')

const optionFields = {
  workspace: optional(aString),
  environment: optional({ expected: 'an object with variables', isSecret: true, accepts: isPlainRecord }),
  sandbox: anything,
  fetch: anything,
  tokens: anything,
  authProvider: anything,
  pins: anything,
  log: anything,
  client: anything,
} satisfies { readonly [key: string]: FieldType }

/** The option `mcp` of a runtime. */
export function checkMcpOptions(problems: Problem[], options: unknown): void {
  if (expectObject(problems, options as object | undefined, 'mcp'))
    checkOnlyFields(problems, options as object, { fields: optionFields, place: 'mcp' })
}
