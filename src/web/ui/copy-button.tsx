import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

const shownMs = 1_500

/** Copies a text, and says for a moment that it did. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string | (() => string); readonly label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), shownMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = (): void => {
    // There is no clipboard on pages without TLS that are not on this machine.
    const copied = navigator.clipboard?.writeText(typeof text === 'string' ? text : text()) ?? Promise.reject(new Error('no clipboard'))
    copied.then(
      () => setState('copied'),
      () => setState('failed'),
    )
  }
  return (
    <button type="button" class="button button-small" onClick={copy}>
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span aria-live="polite">{state === 'ready' ? label : state === 'copied' ? 'Copied' : 'Not allowed'}</span>
    </button>
  )
}
