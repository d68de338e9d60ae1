import { TroupeError } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { knownProviders, profileOf } from '../known-providers.ts'
import type { ModelAdapterOptions } from './adapter-options.ts'

interface Sources {
  readonly [name: string]: { readonly rest?: string }
}

type Configured = Pick<ModelAdapterOptions, 'aliases' | 'variables'>

export function unknownProvider(name: string, sources: Sources, configured: Configured): TroupeError {
  const [provider = ''] = name.split('/')
  const hint = suggestNames(provider, [...Object.keys(sources), ...namedByVariables(configured)]) ?? listNames(sources, configured)
  return new TroupeError('model_unknown', `Unknown provider \`${provider}\` in the model name \`${name}\`.`, {
    remedy: `${hint} For an OpenAI-compatible server, set ${profileOf(provider).urlVariables[0]} to its address, such as https://models.example.org/v1.`,
  })
}

export function unknownModel(name: string, sources: Sources, configured: Configured): TroupeError {
  const [provider, example] = Object.entries(knownProviders).find(([, { defaultModel }]) => defaultModel !== undefined) ?? []
  const known = [...Object.keys(configured.aliases ?? {}), ...Object.keys(sources), ...namedByVariables(configured)]
  const remedy = [
    suggestNames(name, known, (each) => formOf(each, sources)),
    `Write provider/model, such as \`${provider}/${example?.defaultModel}\`. ${listNames(sources, configured)}`,
  ]
  return new TroupeError('model_unknown', name === '' ? 'The name of the model is empty.' : `Unknown model \`${name}\`.`, {
    remedy: remedy.filter((each) => each !== undefined).join(' '),
  })
}

/** All known names, configured ones first. */
function listNames(sources: Sources, { aliases = {} }: Configured): string {
  const forms = [...Object.keys(aliases), ...Object.keys(sources).map((source) => formOf(source, sources))]
  return `Known names: ${forms.map((form) => `\`${form}\``).join(', ')}.`
}

const formOf = (name: string, sources: Sources): string => {
  const rest = Object.hasOwn(sources, name) ? sources[name]?.rest : undefined
  return rest === undefined ? name : `${name}/<${rest}>`
}

/** For suggestions only: many variables contain addresses that have nothing to do with models. */
const namedByVariables = ({ variables }: Configured): readonly string[] =>
  Object.keys(variables).flatMap((variable) => /^(.+)_BASE_URL$/.exec(variable)?.[1]?.toLowerCase() ?? [])

function suggestNames(name: string, known: readonly string[], formed = (each: string): string => each): string | undefined {
  const near = nearestNames(name, known)
  return near.length > 0 ? `Did you mean ${near.map((each) => `\`${formed(each)}\``).join(', ')}?` : undefined
}
