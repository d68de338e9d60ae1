import type { Model } from '../../contracts/index.ts'

export type ProviderKind = 'openai' | 'anthropic' | 'google' | 'openai-compatible'

export interface ProviderSettings {
  readonly baseURL?: string
  readonly apiKey?: string
  readonly headers?: { readonly [name: string]: string }
  /** Which of OpenAI's two interfaces is spoken; default `responses`. Other kinds have only one. */
  readonly api?: 'chat' | 'responses'
}

/** One model of one provider. */
export interface ProviderSpec {
  readonly kind: ProviderKind
  /** Its name as it stands in model ids. */
  readonly provider: string
  readonly model: string
  readonly settings: ProviderSettings
  /** The variable that holds the key, for remedies. */
  readonly keyVariable?: string
  readonly facts?: Pick<Model, 'contextTokens' | 'costOf'>
  readonly fetch?: typeof fetch
  /** The wall time in milliseconds. */
  now(): number
}
