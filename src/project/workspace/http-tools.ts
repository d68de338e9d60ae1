import { resolve } from 'node:path'
import {
  type Json,
  type OpenApiDefinition,
  type Problem,
  type RestToolDefinition,
  type SessionId,
  type SessionToolSource,
  type Tool,
  TroupeError,
} from '../../contracts/index.ts'
import { matchesSource, matchesTool } from '../../policy/tool-name-patterns.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Config } from '../config/config.ts'
import { folderOf, isOwnLayer } from '../config/config-places.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'
import { type ConfiguredTool, isDocumentFile, openApisOf, restToolsOf } from '../config/section-values.ts'
import { readFileStates } from '../config/trust/trust-files.ts'
import { type TrustRecords, trustOf } from '../config/trust/trust-records.ts'
import { type Environment, variablesIn } from '../config/variables/resolve-placeholders.ts'

interface HttpToolContext {
  readonly config: Config
  readonly environment: Environment
  /** The tools that agents list. */
  readonly patterns: readonly string[]
}

/** The REST tools and OpenAPI sources that agents use. */
interface HttpTools {
  readonly tools: readonly (Tool | SessionToolSource)[]
  /** Each costs its own tools only. */
  readonly problems: readonly Problem[]
}

const usedRestTools = ({ config, patterns }: HttpToolContext): readonly ConfiguredTool<RestToolDefinition>[] =>
  restToolsOf(config).filter(({ name }) => patterns.some((pattern) => matchesTool(pattern, name)))
const usedOpenApis = ({ config, patterns }: HttpToolContext): readonly ConfiguredTool<OpenApiDefinition>[] =>
  openApisOf(config).filter(({ name }) => patterns.some((pattern) => matchesSource(pattern, name)))

type Used = ConfiguredTool<RestToolDefinition | OpenApiDefinition>

/** The code is loaded only if an agent uses such a tool. */
export async function configuredHttpTools(context: HttpToolContext, trusted: () => Promise<TrustRecords>): Promise<HttpTools> {
  const rest = usedRestTools(context)
  const documents = usedOpenApis(context)
  if (rest.length + documents.length === 0) return { tools: [], problems: [] }
  const { openApiTools, restTool } = await import('../../tools/http/index.ts')
  const problems: Problem[] = [...rest, ...documents].flatMap((each) => missingVariables(each, context))
  const tools: (Tool | SessionToolSource)[] = rest.map((each) => {
    try {
      return restTool(each.name, unescaped(each.definition), { variables: variablesOf(each, context).values })
    } catch (error) {
      return brokenTool(each, messageOf(error))
    }
  })
  for (const each of documents) {
    const { name, definition, origin } = each
    try {
      const text = await trustedDocument(each, trusted)
      const options = { variables: variablesOf(each, context).values, baseDir: folderOf(origin), ...(text !== undefined && { text }) }
      tools.push(openApiTools(name, definition, options))
    } catch (error) {
      tools.push(brokenSource(name, error))
    }
  }
  return { tools, problems }
}

/** Problems of configured tools, used or not. Contacts no server: documents at URLs are checked by `checkDocuments`. */
export async function httpToolProblems(
  context: Omit<HttpToolContext, 'patterns'>,
  trusted: () => Promise<TrustRecords>,
): Promise<readonly Problem[]> {
  const all = { ...context, patterns: ['*'] }
  const missing = [...restToolsOf(context.config), ...openApisOf(context.config)].flatMap((each) => missingVariables(each, all))
  const listed = await listDocuments(all, { trusted, which: isDocumentFile })
  return [...missing, ...listed.flatMap(({ problems }) => problems)]
}

/** One OpenAPI source, opened as by a session. */
export interface ListedDocument {
  readonly name: string
  readonly tools: number
  readonly problems: readonly Problem[]
}

/** Opens the OpenAPI sources whose `spec` fits, and lists their tools. */
export async function listDocuments(
  context: HttpToolContext,
  { trusted, which }: { readonly trusted: () => Promise<TrustRecords>; which(spec: string): boolean },
): Promise<readonly ListedDocument[]> {
  const wanted = openApisOf(context.config).filter(({ definition }) => which(definition.spec))
  if (wanted.length === 0) return []
  const { tools } = await configuredHttpTools(context, trusted)
  const overlay = {}
  return Promise.all(
    wanted.map(async ({ name, origin }): Promise<ListedDocument> => {
      const problems: Problem[] = []
      const place = `${origin.file}:${origin.line}`
      const note = ({ message, remedy }: Pick<Problem, 'message' | 'remedy'>): unknown =>
        problems.push({ place, message, ...(remedy !== undefined && { remedy }) })
      const source = tools.find((each): each is SessionToolSource => 'open' in each && each.name === name)
      try {
        const found = await source?.open({ sessionId: '' as SessionId, overlay, report: note }).list()
        return { name, tools: found?.length ?? 0, problems }
      } catch (error) {
        note({ message: messageOf(error), ...(error instanceof TroupeError && error.remedy !== undefined && { remedy: error.remedy }) })
        return { name, tools: 0, problems }
      }
    }),
  )
}

/** Values that must not be printed: the variables in headers and credentials. */
export function httpSecrets(context: HttpToolContext): { readonly [name: string]: string } {
  const used: readonly Used[] = [...usedRestTools(context), ...usedOpenApis(context)]
  return Object.assign(
    {},
    ...used.map(({ definition: { headers, auth }, origin }) => {
      const { values } = variablesIn([headers ?? null, auth ?? null] as unknown as Json, origin.layer, context)
      return Object.fromEntries(Object.entries(values).map(([name, value]) => [`secret ${name}`, value]))
    }),
  )
}

const variablesOf = ({ definition, origin }: Used, context: HttpToolContext): ReturnType<typeof variablesIn> =>
  variablesIn(definition as unknown as Json, origin.layer, context)

function missingVariables(each: Used, context: HttpToolContext): readonly Problem[] {
  return variablesOf(each, context).missing.map((variable) => ({
    place: `${each.origin.file}:${each.origin.line}`,
    message: `the tools of \`${each.name}\` need the variable ${variable}, which is not set`,
    remedy: `Set it: export ${variable}=…`,
  }))
}

/** `$${` is a literal `${` everywhere in a configuration. */
function unescaped({ description, parameters, ...rest }: RestToolDefinition): RestToolDefinition {
  const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value).replaceAll('$${', '${')) as Value
  return { ...rest, description: plain(description), ...(parameters && { parameters: plain(parameters) }) }
}

/** The text of a project's document, if a person trusts it in this form. `undefined`: it needs no trust, or is no file. */
async function trustedDocument(
  { definition: { spec }, origin }: ConfiguredTool<OpenApiDefinition>,
  trusted: () => Promise<TrustRecords>,
): Promise<string | undefined> {
  if (isOwnLayer(origin.layer) || !isDocumentFile(spec)) return undefined
  const path = resolve(folderOf(origin), spec)
  const content = await nodeConfigFileSystem.read(path)
  if (content === undefined) throw new TroupeError('tools_unavailable', `${path} does not exist.`, { remedy: 'Check `spec`.' })
  const [state] = await readFileStates({ ...nodeConfigFileSystem, read: async () => content }, [path])
  if (state && trustOf(state, await trusted()) === 'trusted')
    return typeof content === 'string' ? content : new TextDecoder().decode(content)
  const remedy = `Review it, then: troupe trust ${origin.file}`
  throw new TroupeError('tools_unavailable', `${path} is not trusted in its current form.`, { remedy })
}

/** Keeps the name, so that lists and rules with it stay valid. */
function brokenTool({ name, definition: { description } }: ConfiguredTool<RestToolDefinition>, why: string): Tool {
  const failure = { class: 'config', message: why.split('\n', 1)[0] ?? why, remedy: 'The user must correct the configuration.' } as const
  return {
    ...{ name, description, inputSchema: { type: 'object' } },
    unavailable: () => failure,
    execute: () => ({ ok: false, error: failure }),
  }
}

const brokenSource = (name: string, error: unknown): SessionToolSource => ({
  name,
  open: () => ({ list: () => Promise.reject(error instanceof Error ? error : new Error(String(error))) }),
})
