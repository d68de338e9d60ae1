import type { Clock, ProviderKind } from '../../contracts/index.ts'
import type { ProviderSettings, Variables } from '../provider-keys.ts'

/** A provider as a configuration describes it. What is left out comes from variables, or from what is known about it. */
export type ProviderConfig =
  | (ProviderSettings & {
      readonly kind: 'openai'
      /** Which of OpenAI's two interfaces is spoken; default `responses`. */
      readonly api?: 'chat' | 'responses'
    })
  /** Default: what its name stands for, else an OpenAI-compatible server. */
  | (ProviderSettings & { readonly kind?: Exclude<ProviderKind, 'openai'> })

export interface ProviderSources {
  /** Where keys and addresses are looked for: `OPENAI_API_KEY`, `LAB_BASE_URL`. */
  readonly variables: Variables
  readonly providers?: { readonly [name: string]: ProviderConfig }
}

export interface ModelAdapterOptions extends ProviderSources {
  /** Other names for models: `fast: openai/gpt-5.4-mini`. */
  readonly aliases?: { readonly [alias: string]: string }
  /** Default: the machine's; so too what requests are made with and how files are read. */
  readonly clock?: Clock
  readonly fetch?: typeof fetch
  /** Rejects where there is no such file. */
  readonly readFile?: (path: string) => Promise<string>
  /** What `script/<path>` is relative to: the folder of the agent file. Default: the working directory. */
  readonly baseDir?: string
}

export type SettledOptions = ModelAdapterOptions & Required<Pick<ModelAdapterOptions, 'clock' | 'fetch' | 'readFile' | 'baseDir'>>
