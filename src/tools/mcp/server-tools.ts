// Tools as a server lists them: untrusted. An invalid one is left out; the others stay.
import { createHash } from 'node:crypto'
import type { JsonObject, JsonSchema, McpServerDefinition } from '../../contracts/index.ts'
import { matches, offeredName } from '../../policy/tool-name-patterns.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { upgradeSchema } from '../schema/upgrade-schema.ts'
import { maxDescriptionCharacters, maxNameCharacters, maxSchemaBytes } from './mcp-limits.ts'
import { parameterHeaderProblem } from './parameter-headers.ts'

export interface ServerTool {
  /** On the server. */
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** As the server sent it, without the output schema: the library would check that one without limits. */
  readonly definition: JsonObject
  readonly hash: string
}

/** A tool that cannot be offered. */
export interface LeftOutTool {
  /** Absent if the server gave no name. */
  readonly name?: string
  readonly reason: string
}

interface ReadTools {
  readonly tools: readonly ServerTool[]
  readonly leftOut: readonly LeftOutTool[]
}

interface ReadOptions {
  readonly server: string
  readonly filter: McpServerDefinition['tools']
  /** Whether parameters may be sent as HTTP headers. */
  readonly hasHeaders: boolean
}

export function readServerTools(listed: readonly unknown[], { server, filter, hasHeaders }: ReadOptions): ReadTools {
  const tools = new Map<string, ServerTool>()
  const leftOut: LeftOutTool[] = []
  for (const raw of listed) {
    const { name } = (typeof raw === 'object' && raw !== null ? raw : {}) as { name?: unknown }
    if (typeof name === 'string' && !isOffered(name, filter)) continue
    const read = readTool(raw, hasHeaders)
    if (typeof read === 'string') {
      leftOut.push({ ...(typeof name === 'string' && { name: cutText(wellFormed(name), maxNameCharacters) }), reason: read })
      continue
    }
    const offered = offeredName(`${server}/${read.name}`)
    if (tools.has(offered)) leftOut.push({ name: read.name, reason: 'another tool of the server has this name' })
    else tools.set(offered, read)
  }
  return { tools: [...tools.values()], leftOut }
}

export const isOffered = (name: string, { allow, deny = [] }: NonNullable<McpServerDefinition['tools']> = {}): boolean =>
  (allow === undefined || allow.some((pattern) => matches(pattern, name))) && !deny.some((pattern) => matches(pattern, name))

/** A tool, or what is wrong with it. */
function readTool(raw: unknown, hasHeaders: boolean): ServerTool | string {
  try {
    return readParts(raw, hasHeaders)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return 'it is nested too deeply'
  }
}

function readParts(raw: unknown, hasHeaders: boolean): ServerTool | string {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return 'a tool is not an object'
  const { name, title, description, inputSchema, outputSchema, execution } = raw as { readonly [key: string]: unknown }
  if (typeof name !== 'string' || !/^[^\p{Cc}\s](?:[^\p{Cc}]*[^\p{Cc}\s])?$/u.test(name) || name.length > maxNameCharacters)
    return 'its name is not valid'
  const schema = readSchema(inputSchema)
  if (typeof schema === 'string') return `its input schema ${schema}`
  const problem = hasHeaders ? parameterHeaderProblem(inputSchema as JsonSchema) : undefined
  if (problem !== undefined) return problem
  if ((execution as { taskSupport?: unknown } | undefined)?.taskSupport === 'required') return 'it can be called as a task only'
  const output = outputSchema === undefined ? undefined : readSchema(outputSchema, 'any')
  const { outputSchema: _, ...definition } = raw as JsonObject
  return {
    name,
    description: describe(name, title, description),
    inputSchema: schema,
    ...(typeof output === 'object' && { outputSchema: output }),
    definition,
    hash: hashOf([name, title, description, inputSchema, outputSchema]),
  }
}

function describe(name: string, title: unknown, description: unknown): string {
  const text = [description, title, name].find((each) => typeof each === 'string' && each.trim() !== '') as string
  return cutText(wellFormed(text.trim()), maxDescriptionCharacters)
}

/** A schema that can be checked, or why there is none. */
function readSchema(raw: unknown, root: 'object' | 'any' = 'object'): JsonSchema | string {
  if (!isPlainObject(raw)) return 'is not an object'
  if (JSON.stringify(raw).length > maxSchemaBytes) return `is larger than ${maxSchemaBytes / 1024} KB`
  const upgraded = upgradeSchema(raw)
  const { type = 'object' } = upgraded
  const schema = root === 'object' ? { ...upgraded, type: [type].flat().includes('object') ? 'object' : type } : upgraded
  const [problem] = checkSchema(schema, 'schema', root)
  return problem ? `is not valid: ${problem.place}: ${problem.message}` : schema
}

export const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')
