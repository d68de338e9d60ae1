import type { Clock, Model, ProviderKind } from '../../contracts/index.ts'
import type { ProviderSettings } from '../provider-keys.ts'

/** Where a provider is, and how it lets us in. */
export interface Endpoint {
  /** Its name as it stands in model ids. */
  readonly provider: string
  readonly kind: ProviderKind
  readonly settings: ProviderSettings & {
    /** Which of OpenAI's two interfaces is spoken; default `responses`. Other kinds have only one. */
    readonly api?: 'chat' | 'responses'
  }
  /** The variable that its key came from, or should come from. */
  readonly keyVariable?: string
  /** The variable or setting that its address came from, or would come from. */
  readonly addressFrom?: string
}

/** One model of one provider. */
export interface ProviderSpec extends Endpoint {
  readonly model: string
  readonly facts?: Pick<Model, 'contextTokens' | 'costOf'>
  readonly fetch?: typeof fetch
  readonly clock: Clock
}
