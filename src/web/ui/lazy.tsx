import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Loaded<Props> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'ready'; readonly Part: ComponentType<Props> }

/** A part of the page whose code is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let ready: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [state, setState] = useState<Loaded<Props>>(ready ? { kind: 'ready', Part: ready } : { kind: 'loading' })
    useEffect(() => {
      if (ready) return
      load().then(
        (Part) => {
          ready = Part
          setState({ kind: 'ready', Part })
        },
        () => setState({ kind: 'failed' }),
      )
    }, [])
    if (state.kind === 'ready') return <state.Part {...props} />
    return (
      <p class="muted small">{state.kind === 'loading' ? 'Loading…' : 'This part of the page could not be loaded. Reload the page.'}</p>
    )
  }
}
