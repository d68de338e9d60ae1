import { dirname } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { modelAdapter, nearestModels, providerOfModel } from '../../models/by-name/index.ts'
import { type Config, configuredText } from '../config/config.ts'
import { overlayFor, variablesOf } from '../config/variables/overlay.ts'
import type { Environment } from '../config/variables/resolve-placeholders.ts'
import type { AgentDiagnostic } from '../registry/agent-diagnostic.ts'
import type { ReadableFile } from '../registry/loaded-file.ts'
import type { Setup } from '../setup/read-setup.ts'
import { modelOptions } from './find-models.ts'

/** A missing key, server or variable is not an error of the file. */
const notWrong: readonly string[] = ['model_key_missing', 'model_unavailable']

/** Unknown model names, and scripts that cannot be read. Contacts no server: `auto` is not resolved. */
export async function unknownModels(files: readonly ReadableFile[], { config, environment }: Setup): Promise<readonly TroupeError[]> {
  const problems: Problem[] = []
  const seen = new Set<string>()
  for (const { agent, path, place, values, dialect } of files) {
    const stated = values.get('models')
    const spot = { place: stated?.place ?? place, ...(stated?.line !== undefined && { line: stated.line }) }
    for (const name of agent.models) {
      const key = `${name}\n${name.startsWith('script/') ? dirname(path) : ''}`
      if (name === 'auto' || seen.has(key)) continue
      seen.add(key)
      const remedyOf = dialect === 'troupe' ? undefined : foreignModelRemedy
      problems.push(...(await modelProblems(name, { path, spot, remedyOf }, { config, environment })))
    }
  }
  return problems.length === 0 ? [] : [new TroupeError('agent_file_invalid', 'Some models are unknown.', { problems })]
}

interface ModelPlace {
  /** The file that names it, absolute. */
  readonly path: string
  readonly spot: Pick<Problem, 'place' | 'line'>
  readonly remedyOf?: typeof foreignModelRemedy | undefined
}

/** Why a model name is wrong. Contacts no server: `auto` is not resolved. */
export async function modelProblems(
  name: string,
  { path, spot, remedyOf }: ModelPlace,
  sources: Pick<Setup, 'config' | 'environment'>,
): Promise<readonly Problem[]> {
  const error = name === 'auto' ? undefined : await resolveError(name, path, sources)
  if (!error) return []
  const remedy = remedyOf ? remedyOf(name, error) : error.remedy
  return error.problems.length > 0 ? error.problems : [{ ...spot, message: error.message, ...(remedy !== undefined && { remedy }) }]
}

/** A file of another program must stay valid for that program: its models are mapped in the configuration. */
export function foreignModelRemedy(name: string, { code, remedy }: TroupeError): string | undefined {
  if (code !== 'model_unknown' || name.includes('/')) return remedy
  return `Define it in .ai-agent.json: "models": { ${JSON.stringify(name)}: "provider/model" }.`
}

async function resolveError(name: string, path: string, sources: Parameters<typeof overlayFor>[1]): Promise<TroupeError | undefined> {
  try {
    const { variables, providers, aliases } = overlayOf(name, sources)
    if (aliases[name] === 'auto') return undefined
    await modelAdapter({ ...modelOptions(path, { env: variables }), providers, aliases }).resolve(name)
    return undefined
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    return notWrong.includes(error.code) ? undefined : error
  }
}

function overlayOf(name: string, sources: Parameters<typeof overlayFor>[1]): ReturnType<typeof overlayFor> {
  try {
    return overlayFor([name], sources)
  } catch (error) {
    // A variable that is not set here may be set where the agent runs.
    if (error instanceof TroupeError) throw new TroupeError('model_key_missing', error.message, { problems: error.problems })
    throw error
  }
}

interface ModelContext {
  readonly config: Config
  readonly environment: Environment
}

/** Warns about models that are similar to one in the bundled table. They may be new, so they are used anyway. */
export async function misspeltModels(
  files: readonly ReadableFile[],
  { config, environment }: ModelContext,
): Promise<readonly AgentDiagnostic[]> {
  const variables = variablesOf({ config, environment })
  const named = files.flatMap(({ agent, values, place }) =>
    agent.models.map((name) => ({ name: configuredText(config, ['models', name]) ?? name, place: values.get('models')?.place ?? place })),
  )
  const byName = new Map(named.map((each) => [each.name, each]))
  const advice = await Promise.all(
    [...byName.values()].map(async ({ name, place }): Promise<readonly AgentDiagnostic[]> => {
      const isBare = !name.includes('/')
      const provider = isBare ? ((await providerOfModel(name)) ?? '') : (name.split('/', 1)[0] ?? '')
      const model = isBare ? name : name.slice(provider.length + 1)
      // A custom server may have other models.
      const isElsewhere =
        configuredText(config, ['providers', provider, 'baseURL']) !== undefined || `${provider.toUpperCase()}_BASE_URL` in variables
      const near = provider === '' || model === '' || isElsewhere ? [] : await nearestModels(provider, model)
      if (near.length === 0) return []
      const message = `the model \`${name}\` is not in the list of known models`
      return [
        {
          code: 'agent_model_unknown',
          severity: 'warning',
          place,
          message,
          remedy: `Did you mean ${near.map((each) => (isBare ? `\`${each}\`` : `\`${provider}/${each}\``)).join(', ')}?`,
        },
      ]
    }),
  )
  return advice.flat()
}
