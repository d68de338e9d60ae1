import type { ComponentChildren } from 'preact'
import { LongText } from '../markdown/long-text.tsx'

export type Fact = readonly [name: string, value: ComponentChildren]

/** Those without a value are left out. */
export function Facts({ facts, class: more = 'facts' }: { readonly facts: readonly Fact[]; readonly class?: string }) {
  return (
    <dl class={more}>
      {facts.map(
        ([name, value], index) =>
          value !== undefined &&
          value !== '' && (
            // A name may come twice.
            <div key={`${index} ${name}`}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? <LongText text={value} characters={2_000} isExact /> : value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
