import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { type FoundModel, type FoundProvider, findProviders } from '../../models/by-name/index.ts'
import { type KeyOwner, keyInfo, keyOwner, readPastedKey, tryKey } from '../../models/keys/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Config } from '../config/config.ts'
import { setVariable } from '../config/files/set-variable.ts'
import { type Overlay, overlayFor } from '../config/variables/overlay.ts'
import { homeFolder } from '../setup/data-folder.ts'
import type { Setup } from '../setup/read-setup.ts'

// Models that the user of this machine connects while a server runs.
//
// 1. A key is in the variables file of the user, and nowhere else. No result and no error contains it.
// 2. A key is stored only after its provider has accepted it, and only if it would be used.

/** A provider, and what is known about its key. */
export interface ConnectedProvider extends FoundProvider {
  /** The variable of its key. */
  readonly variable?: string
  /** Where people create keys. */
  readonly keyPage?: string
}

export type KeyRefusal =
  | 'not_a_key'
  | 'other_provider'
  | 'unknown_provider'
  | 'key_rejected'
  | 'provider_unreachable'
  | 'key_overridden'
  | 'file_not_writable'

export type ConnectResult =
  | {
      readonly kind: 'connected'
      readonly provider: string
      readonly label: string
      readonly model: string
      /** What is not as a person may expect it. */
      readonly notes: readonly string[]
    }
  | {
      readonly kind: 'refused'
      readonly code: KeyRefusal
      readonly message: string
      readonly remedy?: string
      /** The provider that the key seems to be of. */
      readonly owner?: KeyOwner
    }

export interface PastedKeyRequest {
  /** As it was pasted. */
  readonly key: string
  /** Default: by how the key begins. */
  readonly provider?: string | undefined
  /** The key is for this provider, although it begins like one of another. */
  readonly anyway?: boolean | undefined
}

/** The server that has the models. */
interface Attached {
  /** Reads the files again. Rejects if the last version stays in use. */
  apply(): Promise<void>
  /** Other models may be found now. */
  changed(): void
}

/** What is used of a `Project`. */
interface ServedProject {
  readonly missingModels: readonly string[]
  readonly report: { readonly setup: Setup }
}

export class ModelConnections {
  #server: Attached | undefined
  #project: ServedProject | undefined
  #models: readonly FoundModel[] = []

  attach(server: Attached): void {
    this.#server = server
  }

  /** The project as it is served from now on. */
  use(project: ServedProject): void {
    this.#project = project
    createFolder(dirname(this.file))
    // What cannot be found now is looked for again when a person asks.
    this.find().then(
      () => this.#server?.changed(),
      () => {},
    )
  }

  /** The models that could be used when `find` looked last. */
  get models(): readonly FoundModel[] {
    return this.#models
  }

  /** Models of agents that have none that is available. */
  get missing(): readonly string[] {
    return this.#served.missingModels
  }

  /** The file for keys. */
  get file(): string {
    return variablesFile(this.#served.report.setup)
  }

  /** Looks for keys and local servers. No other machine is contacted. */
  async find(): Promise<readonly ConnectedProvider[]> {
    const found = await findProviders(overlayFor(['auto'], this.#served.report.setup))
    this.#models = found.flatMap(({ models }) => models)
    return found.flatMap((each) => {
      const { variable, keyPage } = keyInfo(each.name) ?? {}
      const isKnown = keyInfo(each.name) !== undefined
      return isKnown || each.models.length > 0
        ? [{ ...each, ...(variable !== undefined && { variable }), ...(keyPage !== undefined && { keyPage }) }]
        : []
    })
  }

  /** Tests a key, stores it and uses it. */
  async connect({ key: pasted, provider: wanted, anyway = false }: PastedKeyRequest): Promise<ConnectResult> {
    const read = readPastedKey(pasted)
    if (!read.ok) return refused('not_a_key', read.message, { remedy: 'Copy the key of the provider again.' })
    const { key } = read
    const owner = keyOwner(key)
    const provider = wanted ?? owner?.name
    const info = provider === undefined ? undefined : keyInfo(provider)
    if (provider === undefined || info?.variable === undefined || info.model === undefined)
      return unknownProvider(owner, { wanted, file: this.file })
    if (owner && owner.name !== provider && !anyway) return otherProvider(owner, info.label, this.file)
    const { setup } = this.#served.report
    const changed = { ...setup, config: withVariable(setup.config, { file: this.file, name: info.variable, value: key }) }
    const overlay = overlayFor([info.model], changed)
    const winner = winnerOver({ provider, variable: info.variable, key }, changed, overlay)
    if (winner !== undefined)
      return refused('key_overridden', `A stored key would not be used: ${winner} has another one, which wins.`, {
        remedy: `Change it there, or remove it and paste the key again.`,
      })
    const answer = await tryKey(provider, { ...overlay, clock: systemClock })
    if (answer.kind === 'rejected')
      return refused('key_rejected', `${info.label} (${answer.at}) does not accept this key. Nothing was stored.`, {
        remedy: 'Copy the key again, or create another one.',
      })
    if (answer.kind === 'unclear')
      return refused('provider_unreachable', `The key could not be tested: ${answer.at} ${answer.why}. Nothing was stored.`, {
        remedy: 'Check the network and try again.',
      })
    try {
      await setVariable(this.file, info.variable, key)
    } catch (error) {
      return unwritable(error, this.file)
    }
    const notes = [answer.note, inEnvironment(info.variable, key, setup), await this.#applied()]
    return { kind: 'connected', provider, label: info.label, model: info.model, notes: notes.filter((each) => each !== undefined) }
  }

  /** What is wrong if the server does not use the key yet. */
  async #applied(): Promise<string | undefined> {
    try {
      await this.#server?.apply()
      await this.find()
      return undefined
    } catch (error) {
      return `The key is stored, but the server does not use it yet: ${messageOf(error)}`
    }
  }

  get #served(): ServedProject {
    if (!this.#project) throw new TroupeError('internal', 'Models are connected for a project, and none is served.')
    return this.#project
  }
}

const variablesFile = ({ environment }: Setup): string => join(homeFolder(environment), '.ai-agent', '.ai-agent.env')

type Refused = Extract<ConnectResult, { readonly kind: 'refused' }>

const refused = (code: KeyRefusal, message: string, more: Pick<Refused, 'remedy' | 'owner'> = {}): Refused => ({
  ...{ kind: 'refused', code, message },
  ...more,
})

function unknownProvider(owner: KeyOwner | undefined, { wanted, file }: { readonly wanted: string | undefined; readonly file: string }) {
  if (wanted !== undefined)
    return refused('unknown_provider', `Keys of "${wanted.slice(0, 50)}" cannot be connected here.`, {
      remedy: `Add its variables to ${file}.`,
    })
  if (owner) return refused('unknown_provider', `This is a key of ${owner.label}.`, { remedy: byHand(owner, file), owner })
  return refused('unknown_provider', 'The key does not show which provider it is of.', { remedy: 'Choose the provider.' })
}

const otherProvider = (owner: KeyOwner, label: string, file: string): Refused =>
  refused('other_provider', `This looks like a key of ${owner.label}, not of ${label}. Nothing was sent.`, {
    remedy: owner.name === undefined ? byHand(owner, file) : `Use it for ${owner.label}.`,
    owner,
  })

/** For providers that Troupe does not know by name. */
function byHand({ label, home = '' }: KeyOwner, file: string): string {
  const name = label.toUpperCase().replaceAll(/\W+/g, '_')
  return `Add ${name}_BASE_URL=${home} and ${name}_API_KEY to ${file}, and name its models ${name.toLowerCase()}/….`
}

function unwritable(error: unknown, file: string): Refused {
  const problem = error instanceof TroupeError ? (error.problems[0] ?? error) : undefined
  const message = problem ? `${'place' in problem ? `${problem.place}: ` : ''}${problem.message}` : messageOf(error)
  return refused('file_not_writable', `The key works, but ${file} cannot be written: ${message}`, {
    remedy: problem?.remedy ?? 'Correct the permissions of the file and its folder.',
  })
}

interface NewVariable {
  readonly file: string
  readonly name: string
  readonly value: string
}

/** Now, because a command of the sandbox sees what is created while it runs: the folder is hidden as a whole. */
function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // The answer to a pasted key says why it cannot be stored.
  }
}

/** The configuration as it will be with the variable in the file of the user. */
const withVariable = (config: Config, { file: path, name, value }: NewVariable): Config => ({
  ...config,
  layers: config.layers.map((layer) => ({
    ...layer,
    variables: layer.variables.map((each) =>
      each.file.path === path ? { ...each, state: 'read' as const, values: new Map([...each.values, [name, { value, line: 0 }]]) } : each,
    ),
  })),
})

interface StoredKey {
  readonly provider: string
  readonly variable: string
  readonly key: string
}

/** The file or setting whose key would be used instead. */
function winnerOver({ provider, variable, key }: StoredKey, { config }: Setup, { variables, providers }: Overlay): string | undefined {
  const configured = providers[provider]?.apiKey
  if (configured !== undefined) return configured === key ? undefined : `\`providers.${provider}.apiKey\` of the configuration`
  if (variables[variable] === key) return undefined
  return config.layers.flatMap((layer) => layer.variables).find(({ values }) => values.has(variable))?.file.path ?? variable
}

/** Files win over the environment. */
function inEnvironment(variable: string, key: string, { environment }: Setup): string | undefined {
  const there = environment[variable]
  if (there === undefined || there === '' || there === key) return undefined
  return `${variable} is set in the environment of the server, too. The stored key is used from now on: files win over the environment.`
}
