import type { ComponentChildren } from 'preact'
import { exactText } from '../../util/exact-text.ts'

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
              <dd>{typeof value === 'string' ? exactText(value) : value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
