import { type AgentDiagnostic, type Config, configuredText, type ReadableFile, variablesOf } from '../../agents/index.ts'
import { nearestModels } from '../../models/by-name/index.ts'
import type { Host } from '../host/process-host.ts'

interface ModelContext {
  readonly config: Config
  readonly environment: Host['env']
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
      const [provider = '', ...rest] = name.split('/')
      const model = rest.join('/')
      // A custom server may have other models.
      const isElsewhere =
        configuredText(config, ['providers', provider, 'baseURL']) !== undefined || `${provider.toUpperCase()}_BASE_URL` in variables
      const near = model === '' || isElsewhere ? [] : await nearestModels(provider, model)
      if (near.length === 0) return []
      const message = `the model \`${name}\` is not in the list of known models`
      return [
        {
          code: 'agent_model_unknown',
          severity: 'warning',
          place,
          message,
          remedy: `Did you mean ${near.map((each) => `\`${provider}/${each}\``).join(', ')}?`,
        },
      ]
    }),
  )
  return advice.flat()
}
